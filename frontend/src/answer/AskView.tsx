import { useEffect, useRef, useState } from "react";

import { Documents } from "../documents/Documents";
import { may, ownerOf, type Session } from "../session/types";
import type { Question } from "../types";
import { AnswerCard } from "./AnswerCard";
import { useDraft } from "./draft";
import { QuestionForm } from "./QuestionForm";
import { isRunning } from "./reducer";
import { useAnswer } from "./useAnswer";

export function AskView({ session }: { session: Session }) {
  const { state, ask, stop } = useAnswer();
  const [draft, setDraft] = useDraft(ownerOf(session));
  const [withoutCache, setWithoutCache] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);

  const refused = state.problem?.status === 401 ? state.question : null;
  useEffect(() => {
    // Signing in may leave the page: the draft outlives that, an asked question does not.
    if (refused !== null && draft === "") setDraft(refused.question);
  }, [refused]);

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
      <Documents key={session.csrf_token} canWrite={may(session, "documents:write")} />
    </div>
  );
}
