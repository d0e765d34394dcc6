import { describe, expect, it } from "vitest";

import { readEvents, SseParser, type ServerEvent } from "../src/sse";

const STREAM = [
  ": a comment\n",
  'event: meta\ndata: {"model":"m"}\n\n',
  "retry: 3000\n\n",
  "event: delta\r\ndata: one\r\ndata: two\r\n\r\n",
  "data:unnamed\r\r",
  "event: delta\nid: 7\ndata:  é 日本\n\n",
].join("");

const EVENTS: ServerEvent[] = [
  { event: "meta", data: '{"model":"m"}' },
  { event: "delta", data: "one\ntwo" },
  { event: "message", data: "unnamed" },
  { event: "delta", data: " é 日本" },
];

function parse(pieces: string[]): ServerEvent[] {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

function bodyOf(chunks: Uint8Array[], onCancel = () => {}): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: onCancel,
  });
}

async function collect(body: ReadableStream<Uint8Array>): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

describe("SseParser", () => {
  it("reads comments, every line ending, several data lines and a missing space", () => {
    expect(parse([STREAM])).toEqual(EVENTS);
  });

  it("gives the same events wherever the stream is cut in two", () => {
    for (let cut = 0; cut <= STREAM.length; cut += 1)
      expect(parse([STREAM.slice(0, cut), STREAM.slice(cut)])).toEqual(EVENTS);
  });

  it("gives the same events one character at a time", () => {
    expect(parse([...STREAM])).toEqual(EVENTS);
  });

  it("keeps an event to itself until its blank line has come", () => {
    const parser = new SseParser();
    expect(parser.push("event: delta\ndata: x\n")).toEqual([]);
    expect(parser.push("\n")).toEqual([{ event: "delta", data: "x" }]);
  });

  it("gives an event at its last carriage return, without waiting for what follows", () => {
    expect(parse(["data: x\r\n\r"])).toEqual([{ event: "message", data: "x" }]);
  });

  it("forgets the name of an event that had no data", () => {
    expect(parse(["event: done\n\ndata: x\n\n"])).toEqual([{ event: "message", data: "x" }]);
  });
});

describe("readEvents", () => {
  it("joins characters whose bytes were split between chunks", async () => {
    const bytes = new TextEncoder().encode(STREAM);
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await collect(bodyOf(single))).toEqual(EVENTS);
  });

  it("drops an event that the end of the body cut off", async () => {
    const bytes = new TextEncoder().encode("data: whole\n\nevent: done\ndata: {");
    expect(await collect(bodyOf([bytes]))).toEqual([{ event: "message", data: "whole" }]);
  });

  it("closes the connection when its reader has seen enough", async () => {
    let cancelled = false;
    const bytes = new TextEncoder().encode("data: 1\n\ndata: 2\n\n");
    for await (const event of readEvents(bodyOf([bytes, bytes, bytes], () => (cancelled = true)))) {
      expect(event.data).toBe("1");
      break;
    }
    expect(cancelled).toBe(true);
  });
});
