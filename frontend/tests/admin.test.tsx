import { act, cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { App } from "../src/App";
import type { CacheStats } from "../src/types";
import { ADMIN, EMPTY_STATS, PROBLEM, STATS } from "./samples";
import { json, LiveStream, serve, signedIn } from "./server";

const PAGE = {
  ...signedIn(ADMIN),
  "GET /admin/keys": () => json({ items: [] }),
  "GET /admin/audit": () => json({ items: [], total: 0 }),
};


beforeEach(() => {
  window.location.hash = "#/admin";
});

afterEach(cleanup);

function serveStats(stats: CacheStats) {
  return serve({ ...PAGE, "GET /admin/cache": () => json(stats) });
}

async function tile(name: string): Promise<string | null | undefined> {
  const tiles = await screen.findByTestId("cache-tiles");
  return within(tiles).getByText(name).nextElementSibling?.textContent;
}

describe("the admin view", () => {
  it("shows rates with their n", async () => {
    serveStats(STATS);
    render(<App />);
    expect(await tile("Hit rate")).toBe("50 % (n = 20)");
    expect(await tile("Token hit rate")).toBe("60 % (n = 5,000 tokens)");
    expect(await tile("Chunk KV kept")).toBe("11.8 MB");
  });

  it("shows that there is no data instead of a rate", async () => {
    serveStats(EMPTY_STATS);
    render(<App />);
    expect(await tile("Hit rate")).toBe("no data");
    const misses = screen.getByRole("table", { name: "Misses by reason" });
    expect(within(misses).getByText("no data")).toBeTruthy();
  });

  it("tells why chunks were missed, also for reasons it does not know", async () => {
    const unknown = { reason: "moon_phase", chunks: 1, tokens: 5 };
    serveStats({ ...STATS, misses_by_reason: [...STATS.misses_by_reason, unknown] });
    render(<App />);
    const misses = await screen.findByRole("table", { name: "Misses by reason" });
    expect(within(misses).getByRole("row", { name: "Not pre-read yet 8 1,500" })).toBeTruthy();
    expect(within(misses).getByRole("row", { name: "moon_phase 1 5" })).toBeTruthy();
  });

  it("lists every document's chunks, tokens, KV, hits and misses", async () => {
    serveStats(STATS);
    render(<App />);
    const documents = await screen.findByRole("table", { name: "Documents" });
    const row = "travel.pdf Pre-read 40 of 40 19,800 11.8 MB 10 10";
    expect(within(documents).getByRole("row", { name: row })).toBeTruthy();
  });

  it("turns the pages of a long list of documents", async () => {
    serveStats({ ...STATS, documents_total: 70 });
    render(<App />);
    await userEvent.click(await screen.findByRole("button", { name: "Next" }));
    expect(await screen.findByText("51–70 of 70")).toBeTruthy();
  });

  it("counts again on Refresh, and shows what went wrong", async () => {
    let broken = true;
    serve({ ...PAGE, "GET /admin/cache": () => (broken ? json(PROBLEM, 503) : json(STATS)) });
    render(<App />);
    expect(await screen.findByText(PROBLEM.detail)).toBeTruthy();
    broken = false;
    await userEvent.click(screen.getByRole("button", { name: "Refresh" }));
    expect(await tile("Lookups")).toBe("20");
    expect(screen.queryByText(PROBLEM.detail)).toBeNull();
  });

  it("does not cost an answer that is still streaming", async () => {
    const stream = new LiveStream();
    window.location.hash = "#/";
    serve({ ...PAGE, "GET /admin/cache": () => json(STATS), "POST /ask": stream.respond });
    render(<App />);
    await userEvent.type(await screen.findByLabelText("Your question"), "Why?{Enter}");
    await act(async () => {
      window.location.hash = "#/admin";
    });
    expect(await screen.findByRole("heading", { name: "Cache" })).toBeTruthy();
    await act(async () => stream.send("delta", { text: "Because." }));
    await act(async () => {
      window.location.hash = "#/";
    });
    expect(await screen.findByText("Because.")).toBeTruthy();
    expect(stream.aborted).toBe(false);
  });
});
