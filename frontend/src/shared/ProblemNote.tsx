import type { ReactNode } from "react";

import type { Problem } from "../types";

interface Props {
  problem: Pick<Problem, "detail" | "hint">;
  children?: ReactNode;
}

/** What went wrong, what to do about it, and (as children) the buttons that do it. */
export function ProblemNote({ problem, children }: Props) {
  return (
    <div className="note note-problem" role="alert" data-testid="problem">
      <p className="note-detail">{problem.detail}</p>
      {problem.hint && <p className="note-hint">{problem.hint}</p>}
      {children && <div className="actions">{children}</div>}
    </div>
  );
}
