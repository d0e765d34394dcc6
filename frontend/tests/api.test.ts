import { describe, expect, it } from "vitest";

import { deleteDocument, problemOf, streamAnswer } from "../src/api";
import type { AnswerEvent, Problem } from "../src/types";
import { ANSWER, PROBLEM } from "./samples";
import { json, LiveStream, serve } from "./server";

async function failureOf(promise: Promise<unknown>): Promise<Problem> {
  return promise.then(
    () => expect.fail("this should have failed"),
    (error: unknown) => problemOf(error),
  );
}

describe("streamAnswer", () => {
  it("yields the events up to the terminal one and reads no further", async () => {
    const stream = new LiveStream();
    serve({
      "POST /ask": (request) => {
        expect(request.body).toEqual({ question: "Why?", cache: "off", stream: true });
        return stream.respond(request);
      },
    });
    const events: AnswerEvent[] = [];
    const reading = (async () => {
      for await (const event of streamAnswer({ question: "Why?", cache: "off" }, new AbortController().signal)) {
        events.push(event);
        if (event.type === "meta") {
          stream.send("ping", {});
          stream.send("delta", { text: "Be" });
          stream.send("done", ANSWER);
          stream.send("error", PROBLEM);
        }
      }
    })();
    await Promise.resolve();
    stream.send("meta", { request_id: "req_1", model: "m", policy: "exact" });
    await reading;
    expect(events.map((event) => event.type)).toEqual(["meta", "delta", "done"]);
  });
});

describe("problems", () => {
  it("are shown as the server told them", async () => {
    serve({ "DELETE /documents/doc_1": () => json({ ...PROBLEM, type: "about:blank" }, 503) });
    expect(await failureOf(deleteDocument("doc_1"))).toEqual(PROBLEM);
  });

  it("have a sentence even when a proxy answers with a page of its own", async () => {
    serve({ "DELETE /documents/doc_1": () => new Response("<html>Bad gateway", { status: 502 }) });
    expect(await failureOf(deleteDocument("doc_1"))).toMatchObject({
      status: 502,
      detail: "The server answered with status 502.",
    });
  });

  it("say that nothing answers when there is no connection", async () => {
    serve({ "DELETE /documents/doc_1": () => Promise.reject(new TypeError("Failed to fetch")) });
    expect(await failureOf(deleteDocument("doc_1"))).toMatchObject({ code: "unreachable" });
  });
});
