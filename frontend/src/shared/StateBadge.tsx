import { stateLabel } from "./documentState";
import type { DocumentState } from "../types";

export function StateBadge({ state }: { state: DocumentState }) {
  return <span className={`state state-${state}`}>{stateLabel(state)}</span>;
}
