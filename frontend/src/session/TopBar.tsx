import { useState } from "react";

import { problemOf } from "../http";
import type { Problem } from "../types";
import type { View } from "../useHashView";
import { may, type Session } from "./types";

interface Props {
  session: Session | null;
  view: View;
  onSignOut: () => Promise<void>;
}

export function TopBar({ session, view, onSignOut }: Props) {
  return (
    <header className="top">
      <div className="top-inner">
        <a className="brand" href="#/">
          <img src="./favicon.svg" alt="" width="28" height="28" />
          Preread
        </a>
        {session !== null && (
          <div className="top-right">
            <nav aria-label="Views">
              <NavLink view="ask" href="#/" current={view} label="Ask" />
              {may(session, "admin") && <NavLink view="admin" href="#/admin" current={view} label="Admin" />}
            </nav>
            <WhoIsHere session={session} onSignOut={onSignOut} />
          </div>
        )}
      </div>
    </header>
  );
}

function NavLink(props: { view: View; href: string; current: View; label: string }) {
  return (
    <a href={props.href} aria-current={props.view === props.current ? "page" : undefined}>
      {props.label}
    </a>
  );
}

function WhoIsHere({ session, onSignOut }: { session: Session; onSignOut: () => Promise<void> }) {
  const [problem, setProblem] = useState<Problem | null>(null);

  const signOut = () => {
    setProblem(null);
    onSignOut().catch((error: unknown) => setProblem(problemOf(error)));
  };

  return (
    <div className="who" data-testid="who">
      <span className="who-name">{session.name}</span>
      <span className="who-role">{session.role}</span>
      <button type="button" className="link" onClick={signOut}>
        Sign out
      </button>
      {problem !== null && <span role="alert">{problem.detail}</span>}
    </div>
  );
}
