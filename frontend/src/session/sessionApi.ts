import { jsonRequest, readJson, send, sendAsStranger } from "../http";
import type { Session, SignInMethods } from "./types";

export async function currentSession(): Promise<Session> {
  return readJson(await sendAsStranger("auth/session"));
}

export async function startSession(name: string, password: string): Promise<Session> {
  return readJson(await sendAsStranger("auth/session", jsonRequest("POST", { name, password })));
}

export async function endSession(): Promise<void> {
  await send("auth/session", { method: "DELETE" });
}

export async function signInMethods(): Promise<SignInMethods> {
  return readJson(await sendAsStranger("auth/methods"));
}

/** Where single sign-on begins; it comes back to the view that is open now. */
export function singleSignOnUrl(): string {
  return `auth/oidc/start?${new URLSearchParams({ next: `/${window.location.hash}` })}`;
}
