/** Server-sent events out of a `fetch` body (`EventSource` cannot POST). WHATWG HTML, section 9.2.6. */

export interface ServerEvent {
  event: string;
  data: string;
}

/** Takes text in pieces of any size and gives back the events that each piece completes. */
export class SseParser {
  #pending = "";
  #event = "";
  #data: string[] = [];
  #endedInReturn = false;

  push(piece: string): ServerEvent[] {
    if (piece === "") return [];
    // A CRLF may be cut in two: the line ended with its CR already.
    const rest = this.#endedInReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    this.#endedInReturn = piece.endsWith("\r");
    const lines = (this.#pending + rest).split(/\r\n|\n|\r/);
    this.#pending = lines.pop() ?? "";
    return lines.flatMap((line) => this.#take(line));
  }

  #take(line: string): ServerEvent[] {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    if (field === "data") this.#data.push(value);
    return [];
  }

  #dispatch(): ServerEvent[] {
    const event = { event: this.#event || "message", data: this.#data.join("\n") };
    const empty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    return empty ? [] : [event];
  }
}

/** The events of a response body. An event cut off by the end of the body is dropped. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel();
  }
}
