import { useState } from "react";

import { Pager } from "../shared/Pager";
import { ProblemNote } from "../shared/ProblemNote";
import type { CacheStats } from "../types";
import { CacheTables } from "./CacheTables";
import { CacheTiles } from "./CacheTiles";
import { DocumentCacheTable } from "./DocumentCacheTable";
import { PAGE_SIZE, useCacheStats } from "./useCacheStats";

export function CachePanel() {
  const [offset, setOffset] = useState(0);
  const { stats, problem, refresh } = useCacheStats(offset);

  return (
    <section className="admin-part" aria-labelledby="cache-title">
      <div className="admin-head">
        <h2 id="cache-title">Cache</h2>
        <button type="button" className="button" onClick={refresh}>
          Refresh
        </button>
      </div>
      {problem !== null && <ProblemNote problem={problem} />}
      {stats === null && problem === null && <p className="waiting">Counting…</p>}
      {stats !== null && <Report stats={stats} offset={offset} onMove={setOffset} />}
    </section>
  );
}

interface ReportProps {
  stats: CacheStats;
  offset: number;
  onMove: (offset: number) => void;
}

function Report({ stats, offset, onMove }: ReportProps) {
  return (
    <>
      <CacheTiles stats={stats} />
      <CacheTables stats={stats} />
      <DocumentCacheTable rows={stats.documents} />
      <Pager
        label="Pages of documents"
        offset={offset}
        size={PAGE_SIZE}
        total={stats.documents_total}
        onMove={onMove}
      />
    </>
  );
}
