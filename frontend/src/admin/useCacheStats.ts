import { useCallback, useEffect, useState } from "react";

import { cacheStats } from "../api";
import { problemOf } from "../http";
import type { CacheStats, Problem } from "../types";

export const PAGE_SIZE = 50;

export interface CacheReport {
  stats: CacheStats | null;
  problem: Problem | null;
  refresh: () => void;
}

/** The cache's numbers, and one page of its documents, as they were when they were last asked for. */
export function useCacheStats(offset: number): CacheReport {
  const [stats, setStats] = useState<CacheStats | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  const refresh = useCallback(() => setRound((now) => now + 1), []);

  useEffect(() => {
    const controller = new AbortController();
    const load = async () => {
      try {
        setStats(await cacheStats({ limit: PAGE_SIZE, offset }, controller.signal));
        setProblem(null);
      } catch (error) {
        if (!controller.signal.aborted) setProblem(problemOf(error));
      }
    };
    void load();
    return () => controller.abort();
  }, [offset, round]);

  return { stats, problem, refresh };
}
