import { useCallback, useEffect, useState } from "react";

import { onDoubt, problemOf, setCsrfToken } from "../http";
import type { Problem } from "../types";
import { currentSession, endSession, startSession } from "./sessionApi";
import type { Session } from "./types";

/** `last`: whose work waits behind the sign-in view; null after signing out. */
export type SessionState =
  | { phase: "checking" }
  | { phase: "in"; session: Session }
  | { phase: "out"; last: Session | null }
  | { phase: "unknown"; problem: Problem };

export interface SessionControls {
  state: SessionState;
  check: () => Promise<void>;
  signIn: (name: string, password: string) => Promise<void>;
  signOut: () => Promise<void>;
}

/** Who is signed in. Whenever the server doubts it, it is asked again. */
export function useSession(): SessionControls {
  const [state, setState] = useState<SessionState>({ phase: "checking" });

  const enter = useCallback((session: Session) => {
    setCsrfToken(session.csrf_token);
    setState({ phase: "in", session });
  }, []);

  const check = useCallback(async () => {
    try {
      enter(await currentSession());
    } catch (error) {
      const problem = problemOf(error);
      setState((before) => afterFailure(before, problem));
    }
  }, [enter]);

  useEffect(() => {
    onDoubt(() => void check());
    void check();
  }, [check]);

  const signIn = useCallback(
    async (name: string, password: string) => enter(await startSession(name, password)),
    [enter],
  );

  const signOut = useCallback(async () => {
    try {
      await endSession();
    } catch (error) {
      // Whoever is unknown already is signed out.
      if (problemOf(error).status !== 401) throw error;
    }
    setCsrfToken("");
    setState({ phase: "out", last: null });
  }, []);

  return { state, check, signIn, signOut };
}

function afterFailure(before: SessionState, problem: Problem): SessionState {
  if (problem.status === 401) return { phase: "out", last: lastOf(before) };
  // A server that cannot be asked has not signed anyone out.
  return before.phase === "in" || before.phase === "out" ? before : { phase: "unknown", problem };
}

function lastOf(state: SessionState): Session | null {
  if (state.phase === "in") return state.session;
  return state.phase === "out" ? state.last : null;
}
