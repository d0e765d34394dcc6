import { useEffect, useRef, useState, type KeyboardEvent } from "react";

interface Props {
  title: string;
  onConfirm: () => void;
}

/** Asks in place before anything is deleted; Escape keeps the document. */
export function DeleteButton({ title, onConfirm }: Props) {
  const [asking, setAsking] = useState(false);
  const wasAsking = useRef(false);
  const open = useRef<HTMLButtonElement>(null);
  const keep = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (asking) keep.current?.focus();
    else if (wasAsking.current) open.current?.focus();
    wasAsking.current = asking;
  }, [asking]);

  if (!asking)
    return (
      <button
        type="button"
        ref={open}
        className="link link-danger"
        aria-label={`Delete ${title}`}
        onClick={() => setAsking(true)}
      >
        Delete
      </button>
    );

  const keepOnEscape = (event: KeyboardEvent) => {
    if (event.key === "Escape") setAsking(false);
  };

  return (
    <div className="confirm" role="group" aria-label={`Delete ${title}?`} onKeyDown={keepOnEscape}>
      <span>Delete it and all that was read from it?</span>
      <button type="button" ref={keep} className="button" onClick={() => setAsking(false)}>
        Keep
      </button>
      <button type="button" className="button button-danger" onClick={onConfirm}>
        Delete for good
      </button>
    </div>
  );
}
