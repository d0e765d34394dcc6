import { useSyncExternalStore } from "react";

export type View = "ask" | "admin";

/** The view that the address names: `#/admin`, or asking for everything else. */
export function useHashView(): View {
  return useSyncExternalStore(subscribe, currentView);
}

function currentView(): View {
  return window.location.hash === "#/admin" ? "admin" : "ask";
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener("hashchange", onChange);
  return () => window.removeEventListener("hashchange", onChange);
}
