import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { AuditLog } from "../src/admin/audit/AuditLog";
import { KeysPanel } from "../src/admin/keys/KeysPanel";
import type { ApiKey } from "../src/admin/keys/types";
import { KEY, PROBLEM } from "./samples";
import { json, serve, type Handler } from "./server";

const SECRET = "prk_1_abc";

let keys: ApiKey[];

beforeEach(() => {
  keys = [KEY];
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function serveKeys(more: Record<string, Handler> = {}) {
  return serve({ "GET /admin/keys": () => json({ items: keys }), ...more });
}

async function row(name: string): Promise<HTMLElement> {
  return (await screen.findByRole("rowheader", { name })).closest("tr")!;
}

describe("the list of keys", () => {
  it("shows each key's role, scopes and times", async () => {
    serveKeys();
    render(<KeysPanel />);
    const text = (await row("night job")).textContent;
    expect(text).toContain("key_1editordocuments:writegoodJan 5, 2026never");
  });

  it("shows expired and revoked keys only when they are asked for", async () => {
    const revoked = { ...KEY, id: "key_2", name: "old job", revoked_at: "2026-01-06T10:00:00Z" };
    const expired = { ...KEY, id: "key_3", name: "trial", expires_at: "2020-01-06T10:00:00Z" };
    keys = [KEY, revoked, expired];
    serveKeys();
    render(<KeysPanel />);
    await row("night job");
    expect(screen.queryByText("old job")).toBeNull();
    await userEvent.click(screen.getByLabelText("Show expired and revoked keys"));
    expect((await row("old job")).textContent).toContain("revoked");
    expect(within(await row("old job")).queryByRole("button")).toBeNull();
    expect((await row("trial")).textContent).toContain("expired");
  });

  it("says what went wrong", async () => {
    serveKeys({ "GET /admin/keys": () => json(PROBLEM, 503) });
    render(<KeysPanel />);
    expect(await screen.findByText(PROBLEM.detail)).toBeTruthy();
  });
});

describe("a new key", () => {
  async function make() {
    await userEvent.type(screen.getByLabelText("Name"), "reports");
    await userEvent.selectOptions(screen.getByLabelText("Role"), "editor");
    await userEvent.click(screen.getByLabelText("documents:write"));
    await userEvent.selectOptions(screen.getByLabelText("Role"), "reader");
    await userEvent.click(screen.getByLabelText("ask"));
    await userEvent.selectOptions(screen.getByLabelText("Good for"), "ever");
    await userEvent.click(screen.getByRole("button", { name: "Make a key" }));
  }

  it("is asked for within its role, and its secret is shown once", async () => {
    const asked: unknown[] = [];
    serveKeys({
      "POST /admin/keys": ({ body }) => {
        asked.push(body);
        keys = [...keys, { ...KEY, id: "key_2", name: "reports" }];
        return json({ key: keys[1], secret: SECRET }, 201);
      },
    });
    const user = userEvent.setup();
    render(<KeysPanel />);
    await row("night job");
    await make();
    expect(asked).toEqual([{ name: "reports", role: "reader", scopes: ["ask"], expires_at: null }]);
    const secret = await screen.findByLabelText<HTMLInputElement>("Secret of “reports”");
    expect(secret.value).toBe(SECRET);
    expect(document.activeElement).toBe(secret);
    expect(await row("reports")).toBeTruthy();

    await user.click(screen.getByRole("button", { name: "Copy" }));
    expect(await navigator.clipboard.readText()).toBe(SECRET);
    expect(screen.getByText("Copied.")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "I have it" }));
    expect(screen.queryByDisplayValue(SECRET)).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole("heading", { name: "API keys" }));
  });

  it("ends after the days that were chosen", async () => {
    vi.useFakeTimers({ now: new Date("2026-03-01T00:00:00Z"), toFake: ["Date"] });
    const asked: unknown[] = [];
    serveKeys({
      "POST /admin/keys": ({ body }) => {
        asked.push(body);
        return json({ key: KEY, secret: SECRET }, 201);
      },
    });
    render(<KeysPanel />);
    await userEvent.type(screen.getByLabelText("Name"), "trial");
    await userEvent.selectOptions(screen.getByLabelText("Good for"), "30 days");
    await userEvent.click(screen.getByRole("button", { name: "Make a key" }));
    expect(asked).toMatchObject([{ expires_at: "2026-03-31T00:00:00.000Z" }]);
  });

  it("can be copied by hand where the browser does not let the page", async () => {
    serveKeys({ "POST /admin/keys": () => json({ key: KEY, secret: SECRET }, 201) });
    render(<KeysPanel />);
    await make();
    vi.stubGlobal("navigator", { ...navigator, clipboard: undefined });
    await userEvent.click(await screen.findByRole("button", { name: "Copy" }));
    expect(await screen.findByText(/copy it yourself/)).toBeTruthy();
  });

  it("keeps what was filled in when it is refused", async () => {
    serveKeys({ "POST /admin/keys": () => json({ ...PROBLEM, detail: "You may not give more than you have." }, 403) });
    render(<KeysPanel />);
    await make();
    expect(await screen.findByText("You may not give more than you have.")).toBeTruthy();
    expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("reports");
    expect(screen.queryByTestId("secret")).toBeNull();
  });
});

describe("a key", () => {
  it("is rotated after confirming, and the new secret is shown", async () => {
    const { calls } = serveKeys({ "POST /admin/keys/key_1/rotate": () => json({ key: KEY, secret: SECRET }) });
    render(<KeysPanel />);
    await userEvent.click(await screen.findByRole("button", { name: "Rotate night job" }));
    expect(calls).toEqual(["GET /admin/keys"]);
    await userEvent.click(screen.getByRole("button", { name: "Make a new secret" }));
    expect(await screen.findByDisplayValue(SECRET)).toBeTruthy();
  });

  it("is revoked after confirming, and Escape keeps it", async () => {
    const { calls } = serveKeys({
      "DELETE /admin/keys/key_1": () => {
        keys = [{ ...KEY, revoked_at: "2026-01-07T10:00:00Z" }];
        return new Response(null, { status: 204 });
      },
    });
    render(<KeysPanel />);
    await userEvent.click(await screen.findByRole("button", { name: "Revoke night job" }));
    await userEvent.keyboard("{Escape}");
    expect(calls).toEqual(["GET /admin/keys"]);
    await userEvent.click(screen.getByRole("button", { name: "Revoke night job" }));
    await userEvent.click(screen.getByRole("button", { name: "Revoke for good" }));
    expect(await screen.findByText("no keys yet")).toBeTruthy();
  });
});

describe("the audit log", () => {
  const entry = {
    at: "2026-01-05T10:00:00Z",
    actor: "ada",
    action: "key.create",
    target: "<img src=x>",
    address: "127.0.0.1",
    request_id: "req_1",
  };

  it("shows who did what, as text", async () => {
    serve({ "GET /admin/audit": () => json({ items: [entry], total: 1 }) });
    render(<AuditLog />);
    const table = await screen.findByRole("table", { name: "Who did what" });
    expect(within(table).getByText("<img src=x>")).toBeTruthy();
    expect(within(table).getByText("key.create")).toBeTruthy();
  });

  it("is turned page by page", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (path: string) => {
      asked.push(path);
      return json({ items: [entry], total: 45 });
    });
    render(<AuditLog />);
    await userEvent.click(await screen.findByRole("button", { name: "Next" }));
    expect(await screen.findByText("21–40 of 45")).toBeTruthy();
    expect(asked).toEqual(["admin/audit?limit=20&offset=0", "admin/audit?limit=20&offset=20"]);
  });
});
