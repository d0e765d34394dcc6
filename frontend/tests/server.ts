import { vi } from "vitest";

import type { Session } from "../src/session/types";

/** What a test's server does with one request. */
export type Handler = (request: Request) => Response | Promise<Response>;

interface Request {
  body: unknown;
  headers: Headers;
  signal: AbortSignal | null;
}

/** Puts a scripted server behind `fetch`; requests that no line of the script names fail the test. */
export function serve(script: Record<string, Handler>): { calls: string[] } {
  const calls: string[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    const name = `${init.method ?? "GET"} /${path.split("?")[0]}`;
    calls.push(name);
    const handler = script[name];
    if (handler === undefined) throw new Error(`the script has no answer to ${name}`);
    const body = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    return handler({ body, headers: new Headers(init.headers), signal: init.signal ?? null });
  });
  return { calls };
}

/** Lines of a script: this person is signed in, and there are no documents. */
export function signedIn(session: Session): Record<string, Handler> {
  return {
    "GET /auth/session": () => json(session),
    "GET /documents": () => json({ items: [], total: 0 }),
  };
}

export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status });
}

/** A stream that a test feeds by hand and that breaks off when the request is aborted. */
export class LiveStream {
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  aborted = false;

  respond: Handler = ({ signal }) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    signal?.addEventListener("abort", () => {
      this.aborted = true;
      this.#controller?.error(signal.reason);
    });
    return new Response(body);
  };

  send(event: string, data: unknown): void {
    const frame = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    this.#controller?.enqueue(new TextEncoder().encode(frame));
  }

  end(): void {
    this.#controller?.close();
  }

  break(): void {
    this.#controller?.error(new TypeError("network error"));
  }
}
