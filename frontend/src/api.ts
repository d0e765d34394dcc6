import { readEvents } from "./sse";
import type {
  AnswerEvent,
  CacheStats,
  DocumentOut,
  DocumentPage,
  Problem,
  Question,
  Upload,
} from "./types";

/** An answer of the server that is not a success; `problem` says what to show. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
    this.name = "ApiError";
  }
}

const UNREACHABLE: Problem = {
  title: "No connection",
  status: 0,
  detail: "Preread cannot be reached.",
  code: "unreachable",
  hint: "Check that it is running and that you are connected, then try again.",
};

/** What to tell the user about anything thrown here. */
export function problemOf(error: unknown): Problem {
  return error instanceof ApiError ? error.problem : UNREACHABLE;
}

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

function parameters(query: Record<string, string | number>): URLSearchParams {
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
}

async function send(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, init);
  if (response.ok) return response;
  throw new ApiError(problemFrom(response.status, await response.text()));
}

async function readJson<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

/** Proxies answer with pages of their own, so nothing about the body is taken for granted. */
function problemFrom(status: number, body: string): Problem {
  const sent = parseObject(body);
  const text = (value: unknown, otherwise: string) =>
    typeof value === "string" && value !== "" ? value : otherwise;
  return {
    title: text(sent.title, "Error"),
    status,
    detail: text(sent.detail, `The server answered with status ${status}.`),
    code: text(sent.code, "http_error"),
    hint: text(sent.hint, ""),
  };
}

function parseObject(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
