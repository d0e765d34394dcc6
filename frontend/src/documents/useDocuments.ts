import { useCallback, useEffect, useState } from "react";

import { listDocuments } from "../api";
import { problemOf } from "../http";
import type { DocumentPage, Problem } from "../types";
import { isInProgress } from "../shared/documentState";

export const PAGE_SIZE = 50;

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;

export interface DocumentList {
  page: DocumentPage | null;
  problem: Problem | null;
  refresh: () => void;
}

/** One page of the documents; asked for again, ever less often, while one of them is being worked on. */
export function useDocuments(offset: number, q: string): DocumentList {
  const [page, setPage] = useState<DocumentPage | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  const refresh = useCallback(() => setRound((now) => now + 1), []);

  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let working = false;
    let wait = SHORTEST_WAIT_MS;
    let before = "";

    const load = async () => {
      try {
        const loaded = await listDocuments({ limit: PAGE_SIZE, offset, q }, controller.signal);
        if (controller.signal.aborted) return;
        const now = JSON.stringify(loaded);
        wait = now === before ? Math.min(wait * 1.5, LONGEST_WAIT_MS) : SHORTEST_WAIT_MS;
        before = now;
        working = loaded.items.some(isInProgress);
        setPage(loaded);
        setProblem(null);
      } catch (error) {
        if (controller.signal.aborted) return;
        wait = LONGEST_WAIT_MS;
        setProblem(problemOf(error));
      }
      if (working) timer = setTimeout(load, wait);
    };

    void load();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [offset, q, round]);

  return { page, problem, refresh };
}
