import type { Question } from "../types";
import { AnswerNumbers } from "./AnswerNumbers";
import { AnswerText } from "./AnswerText";
import { Outcome } from "./Outcome";
import { isRunning, type AnswerState } from "./reducer";
import { Sources } from "./Sources";
import { sourcesOf } from "./quote";

interface Props {
  state: AnswerState;
  onRetry: (question: Question) => void;
  onEdit: (question: Question) => void;
}

export function AnswerCard({ state, onRetry, onEdit }: Props) {
  const { phase, question, answer, text } = state;
  const sources = sourcesOf(state.passages, answer?.citations ?? []);
  const running = isRunning(phase);

  return (
    <section
      className={question === null ? "answer" : "answer card"}
      aria-label="Answer"
      data-testid="answer-card"
      data-phase={phase}
    >
      {question !== null && <h2 className="asked">{question.question}</h2>}
      {/* Busy while it streams: a screen reader then reads the finished answer once, not every word of it. */}
      <div aria-live="polite" aria-busy={running}>
        {running && text === "" && <p className="waiting">{waitingFor(state)}</p>}
        {answer?.status === "no_answer" && <p className="badge">Not found in your documents</p>}
        {text !== "" && (
          <AnswerText text={text} streaming={running} numbers={sources.map((source) => source.n)} />
        )}
        {answer !== null && <AnswerNumbers answer={answer} question={question} />}
      </div>
      {question !== null && (
        <Outcome
          state={state}
          onRetry={() => onRetry(question)}
          onEdit={() => onEdit(question)}
        />
      )}
      {sources.length > 0 && <Sources sources={sources} answered={answer !== null} />}
    </section>
  );
}

function waitingFor(state: AnswerState): string {
  if (state.passages.length === 0) return "Looking through your documents…";
  return "Reading the passages…";
}
