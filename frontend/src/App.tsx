import { useEffect } from "react";

import { AdminView } from "./admin/AdminView";
import { AskView } from "./answer/AskView";
import { useHashView, type View } from "./useHashView";

const TITLES: Record<View, string> = {
  ask: "Preread – ask your documents",
  admin: "Preread – cache",
};

export function App() {
  const view = useHashView();

  useEffect(() => {
    document.title = TITLES[view];
  }, [view]);

  return (
    <>
      <header className="top">
        <div className="top-inner">
          <a className="brand" href="#/">
            <img src="./favicon.svg" alt="" width="28" height="28" />
            Preread
          </a>
          <nav aria-label="Views">
            <NavLink view="ask" href="#/" current={view} label="Ask" />
            <NavLink view="admin" href="#/admin" current={view} label="Admin" />
          </nav>
        </div>
      </header>
      {/* Asking stays mounted, so that a look at the cache does not cost a running answer. */}
      <main hidden={view !== "ask"}>
        <AskView />
      </main>
      {view === "admin" && (
        <main>
          <AdminView />
        </main>
      )}
    </>
  );
}

function NavLink(props: { view: View; href: string; current: View; label: string }) {
  return (
    <a href={props.href} aria-current={props.view === props.current ? "page" : undefined}>
      {props.label}
    </a>
  );
}
