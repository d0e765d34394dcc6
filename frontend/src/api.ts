import { parameters, readJson, send } from "./http";
import { readEvents } from "./sse";
import type { AnswerEvent, CacheStats, DocumentOut, DocumentPage, Question, Upload } from "./types";

export async function listDocuments(
  query: { limit: number; offset: number; q: string },
  signal: AbortSignal,
): Promise<DocumentPage> {
  return readJson(await send(`documents?${parameters(query)}`, { signal }));
}

export async function uploadDocument(file: File): Promise<Upload> {
  const body = new FormData();
  body.append("file", file);
  return readJson(await send("documents", { method: "POST", body }));
}

export async function deleteDocument(id: string): Promise<void> {
  await send(`documents/${encodeURIComponent(id)}`, { method: "DELETE" });
}

export async function retryDocument(id: string): Promise<void> {
  await send(`documents/${encodeURIComponent(id)}/retry`, { method: "POST" });
}

export function documentTextUrl(id: DocumentOut["id"]): string {
  return `documents/${encodeURIComponent(id)}/text`;
}

export async function cacheStats(
  query: { limit: number; offset: number },
  signal: AbortSignal,
): Promise<CacheStats> {
  return readJson(await send(`admin/cache?${parameters(query)}`, { signal }));
}

/** Asks, and yields what the stream says until the server closes it; events of other names are passed over. */
export async function* streamAnswer(
  question: Question,
  signal: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const response = await send("ask", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ ...question, stream: true }),
    signal,
  });
  if (response.body === null) return;
  for await (const { event, data } of readEvents(response.body)) {
    const parsed = answerEvent(event, data);
    if (parsed !== null) yield parsed;
  }
}

function answerEvent(event: string, data: string): AnswerEvent | null {
  switch (event) {
    case "meta":
    case "sources":
    case "delta":
      return { ...JSON.parse(data), type: event };
    case "done":
      return { type: "done", answer: JSON.parse(data) };
    case "error":
      return { type: "error", problem: JSON.parse(data) };
    default:
      return null;
  }
}
