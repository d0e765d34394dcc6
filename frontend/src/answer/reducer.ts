import type { Answer, AnswerEvent, Passage, Problem, Question } from "../types";

/**
 * One question and what has come back for it.
 *
 *     idle → asking → streaming → done | failed
 *                   ↘ stopped (by the reader) | incomplete (the stream ended without a word)
 */
export type Phase = "idle" | "asking" | "streaming" | "done" | "failed" | "stopped" | "incomplete";

export interface AnswerState {
  phase: Phase;
  question: Question | null;
  passages: Passage[];
  text: string;
  answer: Answer | null;
  problem: Problem | null;
}

export type AnswerAction =
  | AnswerEvent
  | { type: "asked"; question: Question }
  | { type: "stopped" }
  | { type: "ended" }
  | { type: "broken"; problem: Problem };

export const IDLE: AnswerState = {
  phase: "idle",
  question: null,
  passages: [],
  text: "",
  answer: null,
  problem: null,
};

export function isRunning(phase: Phase): boolean {
  return phase === "asking" || phase === "streaming";
}

/** The first terminal action wins; whatever comes after it changes nothing until the next question. */
export function reduceAnswer(state: AnswerState, action: AnswerAction): AnswerState {
  if (action.type === "asked") return { ...IDLE, phase: "asking", question: action.question };
  if (!isRunning(state.phase)) return state;
  switch (action.type) {
    case "meta":
      return { ...state, phase: "streaming" };
    case "sources":
      return { ...state, phase: "streaming", passages: action.passages };
    case "delta":
      return { ...state, phase: "streaming", text: state.text + action.text };
    case "done":
      return { ...state, phase: "done", text: action.answer.answer, answer: action.answer };
    case "error":
      return { ...state, phase: "failed", problem: action.problem };
    case "stopped":
      return { ...state, phase: "stopped" };
    case "ended":
      return { ...state, phase: "incomplete" };
    case "broken":
      return state.phase === "asking"
        ? { ...state, phase: "failed", problem: action.problem }
        : { ...state, phase: "incomplete" };
  }
}
