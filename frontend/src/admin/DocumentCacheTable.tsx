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

interface Props {
  rows: readonly DocumentCacheRow[];
  total: number;
}

export function DocumentCacheTable({ rows, total }: Props) {
  const shown = rows.length < total ? `Documents (${count(rows.length)} of ${count(total)})` : "Documents";
  return (
    <DataTable
      caption={shown}
      columns={COLUMNS}
      rows={rows}
      rowKey={(row) => row.document_id}
      empty="no documents yet"
    />
  );
}
