import type { Permission, Role } from "../../session/types";
import { PERMISSIONS_OF } from "./types";

interface Props {
  role: Role;
  scopes: readonly Permission[];
  onChange: (scopes: Permission[]) => void;
}

/** Narrows a key to some of what its role may do. */
export function ScopeChoice({ role, scopes, onChange }: Props) {
  const toggle = (scope: Permission, on: boolean) =>
    onChange(PERMISSIONS_OF[role].filter((each) => (each === scope ? on : scopes.includes(each))));

  return (
    <fieldset className="scopes">
      <legend>Only for (none chosen: all that the role may)</legend>
      {PERMISSIONS_OF[role].map((scope) => (
        <label className="check" key={scope}>
          <input
            type="checkbox"
            checked={scopes.includes(scope)}
            onChange={(event) => toggle(scope, event.target.checked)}
          />
          {scope}
        </label>
      ))}
    </fieldset>
  );
}
