import { useEffect } from "react";

import { count } from "../format";

interface Props {
  label: string;
  offset: number;
  size: number;
  total: number;
  onMove: (offset: number) => void;
}

export function Pager({ label, offset, size, total, onMove }: Props) {
  useEffect(() => {
    // The last row of the last page may be gone.
    if (offset > 0 && offset >= total) onMove(Math.max(0, offset - size));
  }, [offset, size, total, onMove]);

  if (total <= size) return null;
  const last = Math.min(offset + size, total);
  return (
    <nav className="pager" aria-label={label}>
      <button
        type="button"
        className="button"
        disabled={offset === 0}
        onClick={() => onMove(Math.max(0, offset - size))}
      >
        Previous
      </button>
      <span>
        {count(offset + 1)}–{count(last)} of {count(total)}
      </span>
      <button
        type="button"
        className="button"
        disabled={last >= total}
        onClick={() => onMove(offset + size)}
      >
        Next
      </button>
    </nav>
  );
}
