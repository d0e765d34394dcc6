import { ProblemNote } from "../shared/ProblemNote";
import type { AnswerState } from "./reducer";

interface Props {
  state: AnswerState;
  onRetry: () => void;
  onEdit: () => void;
}

/** How a question ended, where that was not simply with an answer. */
export function Outcome({ state, onRetry, onEdit }: Props) {
  const actions = (
    <>
      <button type="button" className="button button-primary" onClick={onRetry}>
        Retry
      </button>
      <button type="button" className="button" onClick={onEdit}>
        Edit question
      </button>
    </>
  );

  if (state.phase === "failed" && state.problem !== null)
    return <ProblemNote problem={state.problem}>{actions}</ProblemNote>;
  if (state.phase === "incomplete")
    return (
      <ProblemNote
        problem={{
          detail: "This answer is incomplete.",
          hint: "The connection ended before Preread had finished.",
        }}
      >
        {actions}
      </ProblemNote>
    );
  if (state.phase === "stopped" || state.answer?.status === "stopped")
    return (
      <div className="note" role="status">
        <p className="note-detail">You stopped this answer; it may be incomplete.</p>
        <div className="actions">{actions}</div>
      </div>
    );
  if (state.answer?.status === "truncated")
    return (
      <div className="note" role="status">
        <p className="note-detail">The answer reached its length limit and was cut off.</p>
      </div>
    );
  return null;
}
