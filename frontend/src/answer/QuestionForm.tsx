import type { FormEvent, KeyboardEvent, RefObject } from "react";

interface Props {
  box: RefObject<HTMLTextAreaElement | null>;
  draft: string;
  withoutCache: boolean;
  running: boolean;
  onDraft: (text: string) => void;
  onWithoutCache: (on: boolean) => void;
  onSubmit: () => void;
  onStop: () => void;
}

/** What a keydown reports while an input method has it, in browsers that have ended the composition by then. */
const KEY_OF_INPUT_METHOD = 229;

export function QuestionForm(props: Props) {
  const ready = !props.running && props.draft.trim() !== "";

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) props.onSubmit();
  };

  const sendOnEnter = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    if (event.nativeEvent.isComposing || event.keyCode === KEY_OF_INPUT_METHOD) return;
    event.preventDefault();
    if (ready) props.onSubmit();
  };

  return (
    <form className="question card" onSubmit={submit} aria-label="Question">
      <label className="question-label" htmlFor="question">
        Your question
      </label>
      <textarea
        id="question"
        ref={props.box}
        rows={3}
        value={props.draft}
        placeholder="What would you like to know?"
        aria-describedby="question-keys"
        onChange={(event) => props.onDraft(event.target.value)}
        onKeyDown={sendOnEnter}
      />
      <div className="question-foot">
        <label className="check">
          <input
            type="checkbox"
            checked={props.withoutCache}
            onChange={(event) => props.onWithoutCache(event.target.checked)}
          />
          Answer without cache
        </label>
        <span id="question-keys" className="keys">
          Enter sends, Shift + Enter starts a new line
        </span>
        {props.running ? (
          <button type="button" className="button" onClick={props.onStop}>
            Stop
          </button>
        ) : (
          <button type="submit" className="button button-primary" disabled={!ready}>
            Ask
          </button>
        )}
      </div>
    </form>
  );
}
