import { useCallback, useEffect, useState } from "react";

import { cacheStats, problemOf } from "../api";
import type { CacheStats, Problem } from "../types";

export interface CacheReport {
  stats: CacheStats | null;
  problem: Problem | null;
  refresh: () => void;
}

/** The cache's numbers, as they were when the view was opened or refreshed. */
export function useCacheStats(): CacheReport {
  const [stats, setStats] = useState<CacheStats | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  const refresh = useCallback(() => setRound((now) => now + 1), []);

  useEffect(() => {
    const controller = new AbortController();
    const load = async () => {
      try {
        setStats(await cacheStats(controller.signal));
        setProblem(null);
      } catch (error) {
        if (!controller.signal.aborted) setProblem(problemOf(error));
      }
    };
    void load();
    return () => controller.abort();
  }, [round]);

  return { stats, problem, refresh };
}
