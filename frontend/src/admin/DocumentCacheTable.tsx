import { bytes, count } from "../format";
import { StateBadge } from "../shared/StateBadge";
import type { DocumentCacheRow } from "../types";
import { DataTable, type Column } from "./DataTable";

const COLUMNS: Column<DocumentCacheRow>[] = [
  { name: "Document", cell: (row) => row.name },
  { name: "State", cell: (row) => <StateBadge state={row.state} /> },
  {
    name: "Chunks pre-read",
    numeric: true,
    cell: (row) => `${count(row.chunks_ready)} of ${count(row.chunks)}`,
  },
  { name: "Tokens", numeric: true, cell: (row) => count(row.tokens) },
  { name: "Chunk KV", numeric: true, cell: (row) => bytes(row.kv_bytes) },
  { name: "Hits", numeric: true, cell: (row) => count(row.hits) },
  { name: "Misses", numeric: true, cell: (row) => count(row.misses) },
];

export function DocumentCacheTable({ rows }: { rows: readonly DocumentCacheRow[] }) {
  return (
    <DataTable
      caption="Documents"
      columns={COLUMNS}
      rows={rows}
      rowKey={(row) => row.document_id}
      empty="no documents yet"
    />
  );
}
