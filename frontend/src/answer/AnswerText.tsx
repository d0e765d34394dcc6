import type { MouseEvent } from "react";

interface Props {
  text: string;
  streaming: boolean;
  numbers: readonly number[];
}

const MARK = /(\[\d+\])/;

export function sourceAnchor(n: number): string {
  return `source-${n}`;
}

/** The answer as plain text; marks such as `[2]` lead to the source of that number. */
export function AnswerText({ text, streaming, numbers }: Props) {
  return (
    <p className={streaming ? "answer-text answer-text-streaming" : "answer-text"} data-testid="answer-text">
      {text.split(MARK).map((part, index) => {
        const n = MARK.test(part) ? Number(part.slice(1, -1)) : null;
        return n !== null && numbers.includes(n) ? <SourceMark key={index} n={n} /> : part;
      })}
    </p>
  );
}

function SourceMark({ n }: { n: number }) {
  const show = (event: MouseEvent) => {
    // The address's hash names the view, so it is not followed.
    event.preventDefault();
    const source = document.getElementById(sourceAnchor(n));
    source?.closest("details")?.setAttribute("open", "");
    source?.focus();
  };
  return (
    <a className="source-mark" href={`#${sourceAnchor(n)}`} aria-label={`Source ${n}`} onClick={show}>
      [{n}]
    </a>
  );
}
