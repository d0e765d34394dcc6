import { useEffect } from "react";

import { AdminView } from "./admin/AdminView";
import { AskView } from "./answer/AskView";
import { forgetDraft } from "./answer/draft";
import { SignInView } from "./session/SignInView";
import { TopBar } from "./session/TopBar";
import { may, ownerOf, type Session } from "./session/types";
import { useSession, type SessionState } from "./session/useSession";
import { ProblemNote } from "./shared/ProblemNote";
import { useHashView, type View } from "./useHashView";

const TITLES: Record<View, string> = {
  ask: "Preread – ask your documents",
  admin: "Preread – administration",
};

export function App() {
  const view = useHashView();
  const { state, check, signIn, signOut } = useSession();
  const isIn = state.phase === "in";
  const shown = shownSession(state);

  useEffect(() => {
    document.title = isIn ? TITLES[view] : "Preread – sign in";
  }, [view, isIn]);

  const leave = async () => {
    await signOut();
    forgetDraft();
  };

  return (
    <>
      <TopBar session={isIn ? state.session : null} view={view} onSignOut={leave} />
      {state.phase === "unknown" && (
        <main>
          <ProblemNote problem={state.problem}>
            <button type="button" className="button" onClick={check}>
              Try again
            </button>
          </ProblemNote>
        </main>
      )}
      {state.phase === "out" && (
        <main>
          <SignInView again={state.last !== null} onSignIn={signIn} />
        </main>
      )}
      {/* Kept while nobody is signed in, so that signing in again costs nothing; gone when it is somebody else. */}
      {shown !== null && (
        <div key={ownerOf(shown)} hidden={!isIn}>
          <Workspace session={shown} view={view} />
        </div>
      )}
    </>
  );
}

function Workspace({ session, view }: { session: Session; view: View }) {
  const admin = view === "admin" && may(session, "admin");
  return (
    <>
      {/* Asking stays mounted, so that a look at the cache does not cost a running answer. */}
      <main hidden={admin}>
        <AskView session={session} />
      </main>
      {admin && (
        <main>
          <AdminView key={session.csrf_token} />
        </main>
      )}
    </>
  );
}

function shownSession(state: SessionState): Session | null {
  if (state.phase === "in") return state.session;
  return state.phase === "out" ? state.last : null;
}
