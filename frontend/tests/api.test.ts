import { describe, expect, it } from "vitest";

import { deleteDocument, streamAnswer } from "../src/api";
import { problemOf } from "../src/http";
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
  it("yields the events in their order and passes over those it does not know", async () => {
    const stream = new LiveStream();
    serve({
      "POST /ask": async (request) => {
        expect(request.body).toEqual({ question: "Why?", cache: "off", stream: true });
        const response = await stream.respond(request);
        stream.send("meta", { request_id: "req_1", model: "m", policy: "exact" });
        stream.send("ping", {});
        stream.send("delta", { text: "Because." });
        stream.send("done", ANSWER);
        stream.end();
        return response;
      },
    });
    const events: AnswerEvent[] = [];
    const { signal } = new AbortController();
    for await (const event of streamAnswer({ question: "Why?", cache: "off" }, signal)) events.push(event);
    expect(events).toEqual([
      { type: "meta", request_id: "req_1", model: "m", policy: "exact" },
      { type: "delta", text: "Because." },
      { type: "done", answer: ANSWER },
    ]);
  });

  it("fails before the first event when the server refuses the question", async () => {
    serve({ "POST /ask": () => json(PROBLEM, 503) });
    const { signal } = new AbortController();
    expect(await failureOf(streamAnswer({ question: "Why?", cache: "auto" }, signal).next())).toEqual(PROBLEM);
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
