import { count } from "../format";
import type { DocumentOut, DocumentState } from "../types";

const LABELS: Record<DocumentState, string> = {
  received: "Waiting",
  parsed: "Reading",
  chunked: "Indexing",
  indexed: "Pre-reading",
  preread: "Pre-read",
  failed: "Failed",
  deleting: "Deleting",
};

const IN_PROGRESS: ReadonlySet<DocumentState> = new Set([
  "received",
  "parsed",
  "chunked",
  "indexed",
  "deleting",
]);

export function stateLabel(state: DocumentState): string {
  return LABELS[state] ?? state;
}

export function isInProgress(document: Pick<DocumentOut, "state">): boolean {
  return IN_PROGRESS.has(document.state);
}

/** Pre-read chunks of all chunks, while that says more than the state does. */
export function progress(document: DocumentOut): string | null {
  if (document.state !== "indexed" || document.chunks === 0) return null;
  return `answers already; ${count(document.chunks_ready)} of ${count(document.chunks)} chunks pre-read`;
}
