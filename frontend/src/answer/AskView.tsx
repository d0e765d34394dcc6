import { useRef, useState } from "react";

import { Documents } from "../documents/Documents";
import type { Question } from "../types";
import { AnswerCard } from "./AnswerCard";
import { QuestionForm } from "./QuestionForm";
import { isRunning } from "./reducer";
import { useAnswer } from "./useAnswer";

export function AskView() {
  const { state, ask, stop } = useAnswer();
  const [draft, setDraft] = useState("");
  const [withoutCache, setWithoutCache] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);

  const submit = () => {
    ask({ question: draft.trim(), cache: withoutCache ? "off" : "auto" });
    setDraft("");
  };

  const retry = (question: Question) => {
    ask(question);
    box.current?.focus();
  };

  const edit = (question: Question) => {
    setDraft(question.question);
    box.current?.focus();
  };

  return (
    <div className="columns">
      <div className="column-main">
        <h1>Ask your documents</h1>
        <QuestionForm
          box={box}
          draft={draft}
          withoutCache={withoutCache}
          running={isRunning(state.phase)}
          onDraft={setDraft}
          onWithoutCache={setWithoutCache}
          onSubmit={submit}
          onStop={stop}
        />
        <AnswerCard state={state} onRetry={retry} onEdit={edit} />
      </div>
      <Documents />
    </div>
  );
}
