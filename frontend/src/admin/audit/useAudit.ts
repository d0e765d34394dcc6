import { useCallback, useEffect, useState } from "react";

import { parameters, problemOf, readJson, send } from "../../http";
import type { Problem } from "../../types";

export const PAGE_SIZE = 20;

export interface AuditEntry {
  at: string;
  actor: string;
  action: string;
  target: string;
  address: string;
  request_id: string;
}

export interface AuditPage {
  items: AuditEntry[];
  total: number;
}

export interface Audit {
  page: AuditPage | null;
  problem: Problem | null;
  refresh: () => void;
}

/** One page of who did what, newest first, as it was when it was last asked for. */
export function useAudit(offset: number): Audit {
  const [page, setPage] = useState<AuditPage | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  const refresh = useCallback(() => setRound((now) => now + 1), []);

  useEffect(() => {
    const controller = new AbortController();
    const load = async () => {
      try {
        setPage(await auditPage(offset, controller.signal));
        setProblem(null);
      } catch (error) {
        if (!controller.signal.aborted) setProblem(problemOf(error));
      }
    };
    void load();
    return () => controller.abort();
  }, [offset, round]);

  return { page, problem, refresh };
}

async function auditPage(offset: number, signal: AbortSignal): Promise<AuditPage> {
  return readJson(await send(`admin/audit?${parameters({ limit: PAGE_SIZE, offset })}`, { signal }));
}
