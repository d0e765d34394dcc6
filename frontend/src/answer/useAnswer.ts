import { useCallback, useEffect, useReducer, useRef } from "react";

import { streamAnswer } from "../api";
import { problemOf } from "../http";
import type { Question } from "../types";
import { IDLE, reduceAnswer, type AnswerState } from "./reducer";

export interface AnswerControls {
  state: AnswerState;
  ask: (question: Question) => void;
  stop: () => void;
}

/** Runs one question at a time; a new one, `stop` and leaving the page close the old one's connection. */
export function useAnswer(): AnswerControls {
  const [state, dispatch] = useReducer(reduceAnswer, IDLE);
  const running = useRef<AbortController | null>(null);

  const ask = useCallback(async (question: Question) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    dispatch({ type: "asked", question });
    try {
      for await (const event of streamAnswer(question, controller.signal)) {
        if (controller.signal.aborted) return;
        dispatch(event);
      }
      if (!controller.signal.aborted) dispatch({ type: "ended" });
    } catch (error) {
      if (!controller.signal.aborted) dispatch({ type: "broken", problem: problemOf(error) });
    }
  }, []);

  const stop = useCallback(() => {
    running.current?.abort();
    dispatch({ type: "stopped" });
  }, []);

  useEffect(() => () => running.current?.abort(), []);

  return { state, ask, stop };
}
