import type { ApiKey } from "./types";

const DAY_MS = 86_400_000;

/** 0 days: it does not end. */
export const LIVES = [
  { days: 90, name: "90 days" },
  { days: 30, name: "30 days" },
  { days: 365, name: "a year" },
  { days: 0, name: "ever" },
] as const satisfies readonly { days: number; name: string }[];

export function expiryAfter(days: number): string | null {
  return days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString();
}

export type KeyState = "good" | "expired" | "revoked";

export function stateOf(key: ApiKey): KeyState {
  if (key.revoked_at !== null) return "revoked";
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now() ? "expired" : "good";
}
