import { useEffect, useRef, useState, type KeyboardEvent } from "react";

interface Props {
  label: string;
  /** What the button does and to what, for those who do not see where it stands. */
  name: string;
  question: string;
  keep: string;
  confirm: string;
  onConfirm: () => void;
}

/** Asks in place before anything is lost; Escape keeps it. */
export function ConfirmButton(props: Props) {
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
        aria-label={props.name}
        onClick={() => setAsking(true)}
      >
        {props.label}
      </button>
    );

  const keepOnEscape = (event: KeyboardEvent) => {
    if (event.key === "Escape") setAsking(false);
  };

  const confirm = () => {
    setAsking(false);
    props.onConfirm();
  };

  return (
    <div className="confirm" role="group" aria-label={`${props.name}?`} onKeyDown={keepOnEscape}>
      <span>{props.question}</span>
      <button type="button" ref={keep} className="button" onClick={() => setAsking(false)}>
        {props.keep}
      </button>
      <button type="button" className="button button-danger" onClick={confirm}>
        {props.confirm}
      </button>
    </div>
  );
}
