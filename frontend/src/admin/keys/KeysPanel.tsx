import { useRef } from "react";

import { ProblemNote } from "../../shared/ProblemNote";
import { KeyForm } from "./KeyForm";
import { KeyTable } from "./KeyTable";
import { SecretNote } from "./SecretNote";
import { useKeys } from "./useKeys";

export function KeysPanel() {
  const { keys, problem, made, create, rotate, revoke, putAway } = useKeys();
  const heading = useRef<HTMLHeadingElement>(null);

  const close = () => {
    putAway();
    heading.current?.focus();
  };

  return (
    <section className="admin-part" aria-labelledby="keys-title">
      <h2 id="keys-title" ref={heading} tabIndex={-1}>
        API keys
      </h2>
      {problem !== null && <ProblemNote problem={problem} />}
      {made !== null && <SecretNote made={made} onClose={close} />}
      <KeyForm onCreate={create} />
      {keys !== null && <KeyTable keys={keys} onRotate={rotate} onRevoke={revoke} />}
    </section>
  );
}
