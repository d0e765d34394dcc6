import type { Problem } from "../types";

type Sentence = Pick<Problem, "detail" | "hint">;

const AGAIN = "Try again.";
const ASK_ADMIN = "Ask an admin of Preread.";

const SENTENCES: Record<string, Sentence> = {
  oidc_off: { detail: "Single sign-on is not set up here.", hint: "Sign in with a password." },
  oidc_state: {
    detail: "This sign-in was not begun here, or took too long.",
    hint: "Begin again on this page, and allow its cookies.",
  },
  oidc_denied: { detail: "The sign-in was refused or cancelled at your provider.", hint: AGAIN },
  oidc_refused: { detail: "Your provider did not accept this sign-in.", hint: AGAIN },
  oidc_unavailable: { detail: "Your sign-in provider does not answer.", hint: "Try again in a while." },
  oidc_token: { detail: "What your sign-in provider sent cannot be trusted.", hint: ASK_ADMIN },
  oidc_no_role: { detail: "You are not in a group that may use Preread.", hint: ASK_ADMIN },
  oidc_tenant: { detail: "Your provider does not say which tenant you belong to.", hint: ASK_ADMIN },
  last_admin: {
    detail: "You would no longer be an admin, and you are the last one.",
    hint: "Another admin has to be there first: ask whoever runs Preread.",
  },
  user_disabled: { detail: "This account is disabled.", hint: ASK_ADMIN },
};

/** Why single sign-on came back without a session, as the address says. */
export function signInProblem(): Sentence | null {
  const code = new URLSearchParams(window.location.search).get("sign_in");
  if (code === null) return null;
  return SENTENCES[code] ?? { detail: "You could not be signed in.", hint: AGAIN };
}

/** Takes that out of the address, so that loading the page again does not say it again. */
export function forgetSignInProblem(): void {
  const address = new URL(window.location.href);
  address.searchParams.delete("sign_in");
  window.history.replaceState(null, "", address);
}
