import { bytes, count, NO_DATA } from "../format";
import { missReason } from "../shared/missReasons";
import type { CacheStats } from "../types";
import { DataTable, type Column } from "./DataTable";

type TierHits = CacheStats["hits_by_tier"][number];
type ReasonMisses = CacheStats["misses_by_reason"][number];
type TierSize = CacheStats["tiers"][number];

const HIT_COLUMNS: Column<TierHits>[] = [
  { name: "Tier", cell: (row) => row.tier },
  { name: "Chunks", numeric: true, cell: (row) => count(row.chunks) },
  { name: "Tokens", numeric: true, cell: (row) => count(row.tokens) },
];

const MISS_COLUMNS: Column<ReasonMisses>[] = [
  { name: "Reason", cell: (row) => <span title={row.reason}>{missReason(row.reason)}</span> },
  { name: "Chunks", numeric: true, cell: (row) => count(row.chunks) },
  { name: "Tokens", numeric: true, cell: (row) => count(row.tokens) },
];

const TIER_COLUMNS: Column<TierSize>[] = [
  { name: "Tier", cell: (row) => row.name },
  { name: "Entries", numeric: true, cell: (row) => count(row.entries) },
  { name: "Size", numeric: true, cell: (row) => bytes(row.bytes) },
  {
    name: "Limit",
    numeric: true,
    cell: (row) => (row.limit_bytes ? bytes(row.limit_bytes) : "none"),
  },
];

export function CacheTables({ stats }: { stats: CacheStats }) {
  return (
    <div className="table-row">
      <DataTable
        caption="Misses by reason"
        columns={MISS_COLUMNS}
        rows={stats.misses_by_reason}
        rowKey={(row) => row.reason}
        empty={stats.lookups === 0 ? NO_DATA : "no misses"}
      />
      <DataTable
        caption="Hits by tier"
        columns={HIT_COLUMNS}
        rows={stats.hits_by_tier}
        rowKey={(row) => row.tier}
        empty={stats.lookups === 0 ? NO_DATA : "no hits"}
      />
      <DataTable
        caption="Storage"
        columns={TIER_COLUMNS}
        rows={stats.tiers}
        rowKey={(row) => row.name}
        empty={NO_DATA}
      />
    </div>
  );
}
