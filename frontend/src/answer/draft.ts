import { useCallback, useState } from "react";

/** In this tab alone: single sign-on leaves the page and comes back. */
const PLACE = "preread-draft";

interface Kept {
  owner: string;
  text: string;
}

/** The question that is being typed. It outlives the page, for whoever typed it. */
export function useDraft(owner: string): [string, (text: string) => void] {
  const [draft, setDraft] = useState(() => keptFor(owner));

  const change = useCallback(
    (text: string) => {
      setDraft(text);
      const kept: Kept = { owner, text };
      if (text === "") forgetDraft();
      else sessionStorage.setItem(PLACE, JSON.stringify(kept));
    },
    [owner],
  );

  return [draft, change];
}

export function forgetDraft(): void {
  sessionStorage.removeItem(PLACE);
}

function keptFor(owner: string): string {
  const kept: Kept | null = JSON.parse(sessionStorage.getItem(PLACE) ?? "null");
  return kept?.owner === owner ? kept.text : "";
}
