import type { Problem } from "./types";

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

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

let csrfToken = "";
let doubted: () => void = () => {};

/** What goes with every request that changes something; empty: nobody is signed in. */
export function setCsrfToken(token: string): void {
  csrfToken = token;
}

/** Has `listener` called whenever the server does not take this page for whom it was. */
export function onDoubt(listener: () => void): void {
  doubted = listener;
}

/** What to tell the user about anything thrown here. */
export function problemOf(error: unknown): Problem {
  return error instanceof ApiError ? error.problem : UNREACHABLE;
}

/** Throws an ApiError for every answer that is not a success. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  return answered(path, init, doubted);
}

/** The same for requests about signing in itself, where being unknown is an ordinary answer. */
export async function sendAsStranger(path: string, init: RequestInit = {}): Promise<Response> {
  return answered(path, init, () => {});
}

export function jsonRequest(method: string, body: unknown): RequestInit {
  return { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

export async function readJson<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

export function parameters(query: Record<string, string | number>): URLSearchParams {
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
}

async function answered(path: string, init: RequestInit, unknown: () => void): Promise<Response> {
  const response = await fetch(path, withCsrfToken(init));
  if (response.ok) return response;
  const problem = problemFrom(response.status, await response.text());
  if (problem.status === 401 || problem.code === "csrf") unknown();
  throw new ApiError(problem);
}

function withCsrfToken(init: RequestInit): RequestInit {
  if (SAFE_METHODS.has(init.method ?? "GET") || csrfToken === "") return init;
  const headers = new Headers(init.headers);
  headers.set("X-CSRF-Token", csrfToken);
  return { ...init, headers };
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
