import { useEffect, useRef, useState } from "react";

import type { MadeKey } from "./types";

interface Props {
  made: MadeKey;
  onClose: () => void;
}

/** The one time that a secret is seen. */
export function SecretNote({ made, onClose }: Props) {
  const [told, setTold] = useState("");
  const box = useRef<HTMLInputElement>(null);

  useEffect(() => {
    setTold("");
    box.current?.focus();
    box.current?.select();
  }, [made]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made.secret);
      setTold("Copied.");
    } catch {
      // Without https there is no clipboard, and it may be forbidden.
      box.current?.select();
      setTold("Your browser does not let this page copy: it is selected, copy it yourself.");
    }
  };

  return (
    <section className="note secret" aria-label={`Secret of ${made.key.name}`}>
      <label className="field">
        Secret of “{made.key.name}”
        <input ref={box} className="secret-text" readOnly value={made.secret} data-testid="secret" />
      </label>
      <p className="note-hint">Copy it now: it is not shown again, and Preread does not keep it.</p>
      <div className="actions">
        <button type="button" className="button button-primary" onClick={copy}>
          Copy
        </button>
        <button type="button" className="button" onClick={onClose}>
          I have it
        </button>
      </div>
      <p role="status">{told}</p>
    </section>
  );
}
