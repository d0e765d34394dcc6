import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import { Documents } from "../src/documents/Documents";
import type { DocumentOut } from "../src/types";
import { DOCUMENT, PROBLEM } from "./samples";
import { json, serve, type Handler } from "./server";

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function list(...items: DocumentOut[]): Handler {
  return () => json({ items, total: items.length });
}

describe("the list of documents", () => {
  it("says what to do while it is empty", async () => {
    serve({ "GET /documents": list() });
    render(<Documents canWrite />);
    expect(await screen.findByText(/Add a document, then ask/)).toBeTruthy();
  });

  it("shows each document's state, and why one failed", async () => {
    const failure = { code: "no_text_found", message: "No text was found in it." };
    serve({
      "GET /documents": list(DOCUMENT, { ...DOCUMENT, id: "doc_2", title: "", name: "scan.pdf", state: "failed", failure }),
    });
    render(<Documents canWrite />);
    const [good, bad] = await screen.findAllByTestId("document");
    expect(good?.textContent).toContain("Pre-read");
    expect(bad?.textContent).toContain("scan.pdf");
    expect(bad?.textContent).toContain("No text was found in it.");
  });

  it("asks again only while a document is being worked on", async () => {
    vi.useFakeTimers();
    const states = [{ state: "received" }, { state: "indexed", chunks_ready: 3 }, { state: "preread" }] as const;
    let round = 0;
    const { calls } = serve({
      "GET /documents": () => json({ items: [{ ...DOCUMENT, ...states[round++] }], total: 1 }),
    });
    render(<Documents canWrite />);
    await act(() => vi.advanceTimersByTimeAsync(0));
    expect(screen.getByText("Waiting")).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(1_000));
    expect(screen.getByText(/3 of 40 chunks pre-read/)).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(1_000));
    expect(screen.getByText("Pre-read")).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(600_000));
    expect(calls).toHaveLength(3);
  });

  it("can be loaded again after a failure", async () => {
    let broken = true;
    serve({ "GET /documents": () => (broken ? json(PROBLEM, 503) : json({ items: [DOCUMENT], total: 1 })) });
    render(<Documents canWrite />);
    await screen.findByText(PROBLEM.detail);
    broken = false;
    await userEvent.click(screen.getByRole("button", { name: "Load again" }));
    expect(await screen.findByText("Travel rules")).toBeTruthy();
    expect(screen.queryByText(PROBLEM.detail)).toBeNull();
  });
});

describe("somebody who may only read", () => {
  it("is offered nothing that changes documents", async () => {
    const failure = { code: "unreadable_file", message: "The file is damaged." };
    serve({ "GET /documents": list(DOCUMENT, { ...DOCUMENT, id: "doc_2", state: "failed", failure }) });
    render(<Documents canWrite={false} />);
    expect(await screen.findAllByTestId("document")).toHaveLength(2);
    expect(screen.queryByLabelText("Add documents")).toBeNull();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("is not told to add a document to an empty list", async () => {
    serve({ "GET /documents": list() });
    render(<Documents canWrite={false} />);
    expect(await screen.findByText("There are no documents here yet.")).toBeTruthy();
  });
});

describe("a long list", () => {
  it("is turned page by page, and finds documents by name", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (path: string) => {
      asked.push(path);
      return json({ items: [DOCUMENT], total: 120 });
    });
    render(<Documents canWrite />);
    expect(await screen.findByText("1–50 of 120")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Next" }));
    expect(screen.getByText("51–100 of 120")).toBeTruthy();
    await userEvent.type(screen.getByLabelText("Find a document"), "é");
    expect(screen.getByText("1–50 of 120")).toBeTruthy();
    expect(asked).toEqual([
      "documents?limit=50&offset=0&q=",
      "documents?limit=50&offset=50&q=",
      "documents?limit=50&offset=0&q=%C3%A9",
    ]);
  });
});

describe("a failed document", () => {
  it("can be tried again", async () => {
    const failure = { code: "unreadable_file", message: "The file is damaged." };
    let document: DocumentOut = { ...DOCUMENT, state: "failed", failure };
    serve({
      "GET /documents": () => json({ items: [document], total: 1 }),
      "POST /documents/doc_1/retry": () => {
        document = DOCUMENT;
        return json({}, 202);
      },
    });
    render(<Documents canWrite />);
    await userEvent.click(await screen.findByRole("button", { name: "Try Travel rules again" }));
    expect(await screen.findByText("Pre-read")).toBeTruthy();
  });
});

describe("adding documents", () => {
  const file = new File(["# Rules"], "rules.md", { type: "text/markdown" });

  it("sends the chosen file and lists it", async () => {
    const items: DocumentOut[] = [];
    serve({
      "GET /documents": () => json({ items, total: items.length }),
      "POST /documents": ({ body }) => {
        expect(((body as FormData).get("file") as File).name).toBe("rules.md");
        items.push({ ...DOCUMENT, name: "rules.md", title: "" });
        return json({ document: items[0], created: true }, 201);
      },
    });
    render(<Documents canWrite />);
    await userEvent.upload(screen.getByLabelText("Add documents"), file);
    expect(await screen.findByText("rules.md was added.")).toBeTruthy();
    expect(await screen.findByText("rules.md")).toBeTruthy();
  });

  it("says so when a dropped file is there already", async () => {
    serve({
      "GET /documents": list(DOCUMENT),
      "POST /documents": () => json({ document: DOCUMENT, created: false }),
    });
    render(<Documents canWrite />);
    fireEvent.drop(screen.getByTestId("drop-area"), { dataTransfer: { files: [file] } });
    expect(await screen.findByText("rules.md is already here.")).toBeTruthy();
  });

  it("names the file that was refused, and goes on with the next", async () => {
    let refused = false;
    serve({
      "GET /documents": list(),
      "POST /documents": () => {
        if (refused) return json({ document: DOCUMENT, created: true }, 201);
        refused = true;
        return json({ ...PROBLEM, detail: "It is larger than 50 MB.", hint: "Split it." }, 413);
      },
    });
    render(<Documents canWrite />);
    const next = new File(["x"], "next.txt", { type: "text/plain" });
    await userEvent.upload(screen.getByLabelText("Add documents"), [file, next]);
    expect(await screen.findByText("rules.md was not added. It is larger than 50 MB.")).toBeTruthy();
    expect(await screen.findByText("next.txt was added.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByText(/was not added/)).toBeNull();
  });
});

describe("deleting a document", () => {
  it("asks first, and Escape keeps it", async () => {
    const { calls } = serve({ "GET /documents": list(DOCUMENT) });
    render(<Documents canWrite />);
    await userEvent.click(await screen.findByRole("button", { name: "Delete Travel rules" }));
    expect(document.activeElement?.textContent).toBe("Keep");
    await userEvent.keyboard("{Escape}");
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Delete Travel rules" }));
    expect(calls).not.toContain("DELETE /documents/doc_1");
  });

  it("removes it from the list once it is gone", async () => {
    let items = [DOCUMENT];
    serve({
      "GET /documents": () => json({ items, total: items.length }),
      "DELETE /documents/doc_1": () => {
        items = [];
        return new Response(null, { status: 204 });
      },
    });
    render(<Documents canWrite />);
    await userEvent.click(await screen.findByRole("button", { name: "Delete Travel rules" }));
    const question = screen.getByRole("group", { name: "Delete Travel rules?" });
    await userEvent.click(within(question).getByRole("button", { name: "Delete for good" }));
    expect(await screen.findByText(/Nothing here yet/)).toBeTruthy();
    expect(screen.queryByTestId("document")).toBeNull();
  });

  it("keeps it in the list, with the reason, when that fails", async () => {
    serve({ "GET /documents": list(DOCUMENT), "DELETE /documents/doc_1": () => json(PROBLEM, 503) });
    render(<Documents canWrite />);
    await userEvent.click(await screen.findByRole("button", { name: "Delete Travel rules" }));
    await userEvent.click(screen.getByRole("button", { name: "Delete for good" }));
    expect(await screen.findByText(PROBLEM.detail)).toBeTruthy();
    expect(screen.getByTestId("document").dataset.state).toBe("preread");
  });
});
