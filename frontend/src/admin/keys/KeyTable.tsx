import { useState } from "react";

import { day, moment } from "../../format";
import { ConfirmButton } from "../../shared/ConfirmButton";
import { DataTable, type Column } from "../DataTable";
import { stateOf } from "./life";
import type { ApiKey } from "./types";

interface Props {
  keys: readonly ApiKey[];
  onRotate: (id: string) => void;
  onRevoke: (id: string) => void;
}

/** Keys that are good; those that were, when they are asked for. */
export function KeyTable({ keys, onRotate, onRevoke }: Props) {
  const [all, setAll] = useState(false);
  const good = keys.filter((key) => stateOf(key) === "good");
  const columns: Column<ApiKey>[] = [
    ...COLUMNS,
    {
      name: "Change",
      cell: (key) => (key.revoked_at === null ? <Actions apiKey={key} onRotate={onRotate} onRevoke={onRevoke} /> : ""),
    },
  ];

  return (
    <>
      <DataTable
        caption="Keys"
        columns={columns}
        rows={all ? keys : good}
        rowKey={(key) => key.id}
        empty="no keys yet"
      />
      {good.length < keys.length && (
        <label className="check">
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} />
          Show expired and revoked keys
        </label>
      )}
    </>
  );
}

const COLUMNS: Column<ApiKey>[] = [
  { name: "Name", cell: (key) => key.name },
  { name: "Id", cell: (key) => <code>{key.id}</code> },
  { name: "Role", cell: (key) => key.role },
  { name: "Only for", cell: (key) => key.scopes.join(", ") || "all of the role" },
  { name: "State", cell: (key) => <span className={`key-${stateOf(key)}`}>{stateOf(key)}</span> },
  { name: "Made", cell: (key) => day(key.created_at) },
  { name: "Ends", cell: (key) => (key.expires_at === null ? "never" : day(key.expires_at)) },
  { name: "Last used", cell: (key) => (key.last_used_at === null ? "never" : moment(key.last_used_at)) },
];

interface ActionsProps {
  apiKey: ApiKey;
  onRotate: (id: string) => void;
  onRevoke: (id: string) => void;
}

function Actions({ apiKey, onRotate, onRevoke }: ActionsProps) {
  return (
    <div className="key-actions">
      <ConfirmButton
        label="Rotate"
        name={`Rotate ${apiKey.name}`}
        question="Make a new secret? The present one stops working at once."
        keep="Keep"
        confirm="Make a new secret"
        onConfirm={() => onRotate(apiKey.id)}
      />
      <ConfirmButton
        label="Revoke"
        name={`Revoke ${apiKey.name}`}
        question="Revoke it? Whatever uses it is refused from now on."
        keep="Keep"
        confirm="Revoke for good"
        onConfirm={() => onRevoke(apiKey.id)}
      />
    </div>
  );
}
