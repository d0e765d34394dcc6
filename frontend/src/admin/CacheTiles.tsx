import type { ReactNode } from "react";

import { bytes, count } from "../format";
import type { CacheStats } from "../types";
import { Rate } from "./Rate";

/** Every chunk that an answer needed is one lookup. */
export function CacheTiles({ stats }: { stats: CacheStats }) {
  const tokens = tokenLookups(stats);
  const tiles: [string, ReactNode][] = [
    ["Lookups", count(stats.lookups)],
    ["Hits", count(stats.hits)],
    ["Misses", count(stats.misses)],
    ["Hit rate", <Rate rate={stats.hit_rate} n={stats.lookups} />],
    ["Token hit rate", <Rate rate={stats.token_hit_rate} n={tokens} unit="tokens" />],
    ["Tokens reused", count(stats.tokens_reused)],
    ["Chunk KV kept", bytes(stats.kv_bytes)],
  ];
  return (
    <dl className="tiles" data-testid="cache-tiles">
      {tiles.map(([name, value]) => (
        <div className="tile card" key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function tokenLookups(stats: CacheStats): number {
  return [...stats.hits_by_tier, ...stats.misses_by_reason].reduce((sum, row) => sum + row.tokens, 0);
}
