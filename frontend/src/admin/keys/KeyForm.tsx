import { useState, type FormEvent } from "react";

import type { Permission, Role } from "../../session/types";
import { expiryAfter, LIVES } from "./life";
import { ScopeChoice } from "./ScopeChoice";
import { PERMISSIONS_OF, type NewKey } from "./types";

const ROLES = Object.keys(PERMISSIONS_OF) as Role[];

interface Props {
  /** Answers whether the key was made. */
  onCreate: (key: NewKey) => Promise<boolean>;
}

export function KeyForm({ onCreate }: Props) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("reader");
  const [scopes, setScopes] = useState<Permission[]>([]);
  const [days, setDays] = useState<number>(LIVES[0].days);
  const [sending, setSending] = useState(false);

  const changeRole = (chosen: Role) => {
    setRole(chosen);
    setScopes(scopes.filter((scope) => PERMISSIONS_OF[chosen].includes(scope)));
  };

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (sending || name.trim() === "") return;
    setSending(true);
    const wasMade = await onCreate({ name: name.trim(), role, scopes, expires_at: expiryAfter(days) });
    setSending(false);
    if (!wasMade) return;
    setName("");
    setScopes([]);
  };

  return (
    <form className="key-form card" onSubmit={submit} aria-label="New key">
      <label className="field">
        Name
        <input value={name} maxLength={100} required onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="field">
        Role
        <select value={role} onChange={(event) => changeRole(event.target.value as Role)}>
          {ROLES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label className="field">
        Good for
        <select value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {LIVES.map((life) => (
            <option key={life.days} value={life.days}>
              {life.name}
            </option>
          ))}
        </select>
      </label>
      <ScopeChoice role={role} scopes={scopes} onChange={setScopes} />
      <button type="submit" className="button button-primary" disabled={sending}>
        Make a key
      </button>
    </form>
  );
}
