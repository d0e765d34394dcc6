import { useState } from "react";

import { moment } from "../../format";
import { Pager } from "../../shared/Pager";
import { ProblemNote } from "../../shared/ProblemNote";
import { DataTable, type Column } from "../DataTable";
import { PAGE_SIZE, useAudit, type AuditEntry } from "./useAudit";

interface Row extends AuditEntry {
  place: number;
}

const COLUMNS: Column<Row>[] = [
  { name: "When", cell: (row) => moment(row.at) },
  { name: "Who", cell: (row) => row.actor },
  { name: "Did", cell: (row) => row.action },
  { name: "To what", cell: (row) => row.target },
  { name: "From", cell: (row) => row.address },
];

export function AuditLog() {
  const [offset, setOffset] = useState(0);
  const { page, problem, refresh } = useAudit(offset);
  const rows = (page?.items ?? []).map((entry, index) => ({ ...entry, place: offset + index }));

  return (
    <section className="admin-part" aria-labelledby="audit-title">
      <div className="admin-head">
        <h2 id="audit-title">Audit log</h2>
        <button type="button" className="button" aria-label="Refresh the audit log" onClick={refresh}>
          Refresh
        </button>
      </div>
      {problem !== null && <ProblemNote problem={problem} />}
      {page !== null && (
        <>
          <DataTable
            caption="Who did what"
            columns={COLUMNS}
            rows={rows}
            rowKey={(row) => String(row.place)}
            empty="nothing yet"
          />
          <Pager
            label="Pages of the audit log"
            offset={offset}
            size={PAGE_SIZE}
            total={page.total}
            onMove={setOffset}
          />
        </>
      )}
    </section>
  );
}
