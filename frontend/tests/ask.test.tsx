import { act, cleanup, createEvent, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { App } from "../src/App";
import { ANSWER, PASSAGE, PROBLEM, READER } from "./samples";
import { LiveStream, serve, signedIn } from "./server";

const META = { request_id: "req_1", model: "m", policy: "exact" };

let stream: LiveStream;
let asked: unknown[];

beforeEach(() => {
  window.location.hash = "#/";
  sessionStorage.clear();
  stream = new LiveStream();
  asked = [];
  serve({
    ...signedIn(READER),
    "POST /ask": (request) => {
      asked.push(request.body);
      return stream.respond(request);
    },
  });
});

afterEach(cleanup);

function box(): HTMLTextAreaElement {
  return screen.getByLabelText("Your question");
}

async function open() {
  render(<App />);
  await screen.findByLabelText("Your question");
}

async function ask(text = "How do we travel?") {
  await userEvent.type(box(), `${text}{Enter}`);
  await screen.findByRole("button", { name: "Stop" });
}

async function send(event: string, data: unknown) {
  await act(async () => stream.send(event, data));
}

describe("the question box", () => {
  it("sends on Enter and starts a new line on Shift + Enter", async () => {
    await open();
    await userEvent.type(box(), "one{Shift>}{Enter}{/Shift}two");
    expect(asked).toEqual([]);
    await userEvent.type(box(), "{Enter}");
    expect(asked).toEqual([{ question: "one\ntwo", cache: "auto", stream: true }]);
    expect(box().value).toBe("");
  });

  it("leaves Enter to an input method that composes", async () => {
    await open();
    fireEvent.change(box(), { target: { value: "にほん" } });
    fireEvent(box(), createEvent.keyDown(box(), { key: "Enter", isComposing: true }));
    fireEvent.keyDown(box(), { key: "Enter", keyCode: 229 });
    expect(asked).toEqual([]);
    fireEvent.keyDown(box(), { key: "Enter", keyCode: 13 });
    expect(asked).toHaveLength(1);
  });

  it("sends nothing that is only blanks", async () => {
    await open();
    await userEvent.type(box(), "  {Enter}");
    expect(asked).toEqual([]);
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Ask" }).disabled).toBe(true);
  });

  it("asks without cache when told to", async () => {
    await open();
    await userEvent.click(screen.getByRole("checkbox", { name: "Answer without cache" }));
    await ask();
    expect(asked).toMatchObject([{ cache: "off" }]);
  });
});

describe("an answer", () => {
  it("streams as text, never as HTML", async () => {
    await open();
    await ask();
    await send("meta", META);
    await send("delta", { text: "<img src=x onerror=alert(1)> **" });
    await send("delta", { text: "rail**" });
    const text = await screen.findByText("<img src=x onerror=alert(1)> **rail**");
    expect(text.querySelector("img")).toBeNull();
    expect(text.closest("[aria-live]")?.getAttribute("aria-busy")).toBe("true");
  });

  it("ends with its sources, the quote marked, and the line about the cache", async () => {
    await open();
    await ask();
    await send("meta", META);
    await send("sources", { passages: [PASSAGE, { ...PASSAGE, n: 2, chunk_id: "chk_2" }], retrieval_ms: 2 });
    await send("done", ANSWER);
    const sources = await screen.findByRole("region", { name: "Sources" });
    expect(within(sources).getByText("Travel rules")).toBeTruthy();
    expect(within(sources).getByText("page 4")).toBeTruthy();
    expect(sources.querySelector("mark")?.textContent).toBe("Rail is first choice under 600 km.");
    expect(screen.getByRole("region", { name: "Also read, not quoted" })).toBeTruthy();
    expect(screen.getByText("3 of 4 chunks from cache, first token after 0.4 s")).toBeTruthy();
    expect(screen.getByTestId("answer-text").textContent).toBe("By rail, under 600 km [1].");
    expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
  });

  it("has no row for what was not measured", async () => {
    await open();
    await ask();
    const usage = { ...ANSWER.usage, reused_tokens: null };
    const timings = { ...ANSWER.timings, select_ms: null };
    await send("done", { ...ANSWER, usage, timings });
    const rows = screen.getAllByRole("term").map((term) => term.textContent);
    expect(rows).toContain("Fresh tokens");
    expect(rows).not.toContain("Reused tokens");
    expect(rows).not.toContain("Select");
  });

  it("leads from its marks to their sources", async () => {
    await open();
    await ask();
    await send("sources", { passages: [PASSAGE], retrieval_ms: 2 });
    await send("done", ANSWER);
    await userEvent.click(await screen.findByRole("link", { name: "Source 1" }));
    expect(document.activeElement).toBe(screen.getByTestId("source"));
    expect(window.location.hash).toBe("#/");
  });

  it("opens the list of unquoted passages for a mark that names one of them", async () => {
    await open();
    await ask();
    await send("sources", { passages: [PASSAGE, { ...PASSAGE, n: 2, chunk_id: "chk_2" }], retrieval_ms: 2 });
    await send("done", { ...ANSWER, answer: "By rail [1], not by air [2]." });
    const others = await screen.findByRole("region", { name: "Also read, not quoted" });
    expect(others.querySelector("details")?.open).toBe(false);
    await userEvent.click(screen.getByRole("link", { name: "Source 2" }));
    expect(others.querySelector("details")?.open).toBe(true);
    expect(document.activeElement).toBe(within(others).getByTestId("source"));
  });

  it("says honestly that nothing was found", async () => {
    await open();
    await ask();
    await send("done", { ...ANSWER, status: "no_answer", answer: "The documents do not say.", citations: [] });
    expect(await screen.findByText("Not found in your documents")).toBeTruthy();
    expect(screen.getByText("The documents do not say.")).toBeTruthy();
  });

  it("keeps what has come when it is stopped, and closes the connection", async () => {
    await open();
    await ask();
    await send("delta", { text: "By rail" });
    await userEvent.click(screen.getByRole("button", { name: "Stop" }));
    expect(screen.getByText("By rail")).toBeTruthy();
    expect(screen.getByText(/You stopped this answer/)).toBeTruthy();
    expect(stream.aborted).toBe(true);
  });

  it("shows an error's detail and hint", async () => {
    await open();
    await ask();
    await send("error", PROBLEM);
    const alert = await screen.findByRole("alert");
    expect(within(alert).getByText(PROBLEM.detail)).toBeTruthy();
    expect(within(alert).getByText(PROBLEM.hint)).toBeTruthy();
  });

  it.each(["end", "break"] as const)("is incomplete when the connection %ss early, and can be retried", async (how) => {
    await open();
    await ask();
    await send("delta", { text: "By " });
    await act(async () => stream[how]());
    expect(await screen.findByText("This answer is incomplete.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Retry" }));
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
    expect(screen.queryByText("This answer is incomplete.")).toBeNull();
  });

  it("gives the question back for editing after an error", async () => {
    await open();
    await ask("A very long question");
    await send("error", PROBLEM);
    await userEvent.click(await screen.findByRole("button", { name: "Edit question" }));
    expect(box().value).toBe("A very long question");
    expect(document.activeElement).toBe(box());
  });
});
