import { useCallback, useEffect, useState } from "react";

import { problemOf } from "../../http";
import type { Problem } from "../../types";
import { createKey, listKeys, revokeKey, rotateKey } from "./keysApi";
import type { ApiKey, MadeKey, NewKey } from "./types";

export interface Keys {
  keys: ApiKey[] | null;
  problem: Problem | null;
  /** The key that was made or rotated last, until its secret is put away. */
  made: MadeKey | null;
  create: (key: NewKey) => Promise<boolean>;
  rotate: (id: string) => Promise<boolean>;
  revoke: (id: string) => Promise<boolean>;
  putAway: () => void;
}

/** The tenant's API keys. What changes them answers whether it went well, and lists them again. */
export function useKeys(): Keys {
  const [keys, setKeys] = useState<ApiKey[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [made, setMade] = useState<MadeKey | null>(null);
  const [round, setRound] = useState(0);

  useEffect(() => {
    const controller = new AbortController();
    const failed = (error: unknown) => {
      if (!controller.signal.aborted) setProblem(problemOf(error));
    };
    listKeys(controller.signal).then(setKeys, failed);
    return () => controller.abort();
  }, [round]);

  const change = useCallback(async (act: () => Promise<MadeKey | void>) => {
    setProblem(null);
    try {
      const result = await act();
      if (result !== undefined) setMade(result);
      return true;
    } catch (error) {
      setProblem(problemOf(error));
      return false;
    } finally {
      setRound((now) => now + 1);
    }
  }, []);

  return {
    keys,
    problem,
    made,
    create: (key) => change(() => createKey(key)),
    rotate: (id) => change(() => rotateKey(id)),
    revoke: (id) => change(() => revokeKey(id)),
    putAway: () => setMade(null),
  };
}
