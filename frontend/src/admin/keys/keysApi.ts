import { jsonRequest, readJson, send } from "../../http";
import type { ApiKey, MadeKey, NewKey } from "./types";

export async function listKeys(signal: AbortSignal): Promise<ApiKey[]> {
  const { items } = await readJson<{ items: ApiKey[] }>(await send("admin/keys", { signal }));
  return items;
}

export async function createKey(key: NewKey): Promise<MadeKey> {
  return readJson(await send("admin/keys", jsonRequest("POST", key)));
}

export async function rotateKey(id: string): Promise<MadeKey> {
  return readJson(await send(`admin/keys/${encodeURIComponent(id)}/rotate`, jsonRequest("POST", {})));
}

export async function revokeKey(id: string): Promise<void> {
  await send(`admin/keys/${encodeURIComponent(id)}`, { method: "DELETE" });
}
