import { ProblemNote } from "../shared/ProblemNote";
import type { CacheStats } from "../types";
import { CacheTables } from "./CacheTables";
import { CacheTiles } from "./CacheTiles";
import { DocumentCacheTable } from "./DocumentCacheTable";
import { useCacheStats } from "./useCacheStats";

export function AdminView() {
  const { stats, problem, refresh } = useCacheStats();

  return (
    <div className="admin">
      <div className="admin-head">
        <h1>Cache</h1>
        <button type="button" className="button" onClick={refresh}>
          Refresh
        </button>
      </div>
      {problem !== null && <ProblemNote problem={problem} />}
      {stats === null && problem === null && <p className="waiting">Counting…</p>}
      {stats !== null && <Report stats={stats} />}
    </div>
  );
}

function Report({ stats }: { stats: CacheStats }) {
  return (
    <>
      <CacheTiles stats={stats} />
      <CacheTables stats={stats} />
      <DocumentCacheTable rows={stats.documents} total={stats.documents_total} />
    </>
  );
}
