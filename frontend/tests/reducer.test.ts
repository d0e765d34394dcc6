import { describe, expect, it } from "vitest";

import { IDLE, reduceAnswer, type AnswerAction, type AnswerState } from "../src/answer/reducer";
import type { Question } from "../src/types";
import { ANSWER, PASSAGE, PROBLEM } from "./samples";

const QUESTION: Question = { question: "How do we travel?", cache: "auto" };
const ASKED: AnswerAction = { type: "asked", question: QUESTION };
const META: AnswerAction = { type: "meta", request_id: "req_1", model: "m", policy: "exact" };
const SOURCES: AnswerAction = { type: "sources", passages: [PASSAGE], retrieval_ms: 3 };
const DONE: AnswerAction = { type: "done", answer: ANSWER };
const FAILED: AnswerAction = { type: "error", problem: PROBLEM };
const ENDED: AnswerAction = { type: "ended" };
const STOPPED: AnswerAction = { type: "stopped" };
const BROKEN: AnswerAction = { type: "broken", problem: PROBLEM };

function delta(text: string): AnswerAction {
  return { type: "delta", text };
}

function after(...actions: AnswerAction[]): AnswerState {
  return actions.reduce(reduceAnswer, IDLE);
}

describe("reduceAnswer", () => {
  it("gathers the answer's text and passages as they stream in", () => {
    const state = after(ASKED, META, SOURCES, delta("By "), delta("rail"));
    expect(state).toMatchObject({ phase: "streaming", text: "By rail", passages: [PASSAGE] });
  });

  it("takes the text of the finished answer over what was streamed", () => {
    const state = after(ASKED, META, delta("By rai"), DONE);
    expect(state).toMatchObject({ phase: "done", text: ANSWER.answer, answer: ANSWER });
  });

  it("keeps the text that came before an error", () => {
    const state = after(ASKED, META, delta("By "), FAILED);
    expect(state).toMatchObject({ phase: "failed", text: "By ", problem: PROBLEM });
  });

  it("calls an answer incomplete when the stream ends without a last word", () => {
    expect(after(ASKED, META, delta("By "), ENDED).phase).toBe("incomplete");
    expect(after(ASKED, ENDED).phase).toBe("incomplete");
  });

  it("calls an answer incomplete when the connection breaks after it began", () => {
    expect(after(ASKED, META, delta("By "), BROKEN)).toMatchObject({ phase: "incomplete", text: "By " });
  });

  it("fails with the reason when the connection never came about", () => {
    expect(after(ASKED, BROKEN)).toMatchObject({ phase: "failed", problem: PROBLEM });
  });

  it.each([DONE, FAILED, ENDED, STOPPED, BROKEN])("lets nothing change it after $type", (terminal) => {
    const state = after(ASKED, META, delta("By "), terminal);
    for (const late of [META, SOURCES, delta("more"), DONE, FAILED, ENDED, STOPPED, BROKEN])
      expect(reduceAnswer(state, late)).toBe(state);
  });

  it("starts anew with the next question", () => {
    expect(after(ASKED, META, SOURCES, FAILED, ASKED)).toEqual({
      ...IDLE,
      phase: "asking",
      question: QUESTION,
    });
  });

  it("ignores events before any question", () => {
    expect(after(META, delta("x"), DONE)).toBe(IDLE);
  });
});
