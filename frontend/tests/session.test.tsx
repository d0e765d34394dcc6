import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { App } from "../src/App";
import type { Session } from "../src/session/types";
import { ADMIN, ANSWER, DOCUMENT, EDITOR, PROBLEM, READER, UNKNOWN } from "./samples";
import { json, LiveStream, serve, signedIn, type Handler } from "./server";

const BOTH = { password: true, oidc: true, oidc_name: "Company sign-in" };
const PASSWORD_ALONE = { ...BOTH, oidc: false };

/** Who the server takes this page for; null: nobody. */
let present: Session | null;

beforeEach(() => {
  window.history.replaceState(null, "", "/#/");
  sessionStorage.clear();
  present = null;
});

afterEach(cleanup);

function serveSessions(more: Record<string, Handler> = {}, methods = BOTH) {
  return serve({
    "GET /auth/methods": () => json(methods),
    "GET /auth/session": () => (present === null ? json(UNKNOWN, 401) : json(present)),
    "POST /auth/session": ({ body }) => {
      const { name, password } = body as { name: string; password: string };
      if (password !== "right") return json({ ...UNKNOWN, detail: "The name or the password is wrong." }, 401);
      present = [ADMIN, EDITOR, READER].find((each) => each.name === name) ?? null;
      return json(present);
    },
    "DELETE /auth/session": () => {
      present = null;
      return new Response(null, { status: 204 });
    },
    "GET /documents": () => (present === null ? json(UNKNOWN, 401) : json({ items: [DOCUMENT], total: 1 })),
    ...more,
  });
}

async function signInAs(name: string, password = "right") {
  await userEvent.type(await screen.findByLabelText("Name"), name);
  await userEvent.type(screen.getByLabelText("Password"), password);
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
}

function box(): Promise<HTMLTextAreaElement> {
  return screen.findByLabelText("Your question");
}

describe("whoever is not signed in", () => {
  it("sees the ways to sign in, and nothing is asked of the server in vain", async () => {
    const { calls } = serveSessions();
    render(<App />);
    expect(await screen.findByRole("heading", { name: "Sign in" })).toBeTruthy();
    const link = await screen.findByRole("link", { name: "Company sign-in" });
    expect(link.getAttribute("href")).toBe("auth/oidc/start?next=%2F%23%2F");
    expect(document.activeElement).toBe(screen.getByLabelText("Name"));
    expect(screen.queryByLabelText("Your question")).toBeNull();
    expect(calls).toEqual(["GET /auth/session", "GET /auth/methods"]);
  });

  it("is offered single sign-on only where there is one", async () => {
    serveSessions({}, PASSWORD_ALONE);
    render(<App />);
    await screen.findByLabelText("Name");
    expect(screen.queryByRole("link", { name: "Company sign-in" })).toBeNull();
  });

  it("comes back to the view that was wanted", async () => {
    window.location.hash = "#/admin";
    serveSessions();
    render(<App />);
    const link = await screen.findByRole("link", { name: "Company sign-in" });
    expect(link.getAttribute("href")).toBe("auth/oidc/start?next=%2F%23%2Fadmin");
  });

  it("is told that the name or the password is wrong, and keeps the name", async () => {
    serveSessions();
    render(<App />);
    await signInAs("ada", "wrong");
    expect((await screen.findByRole("alert")).textContent).toContain("The name or the password is wrong.");
    expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("ada");
    expect(screen.getByLabelText<HTMLInputElement>("Password").value).toBe("");
    expect(document.activeElement).toBe(screen.getByLabelText("Password"));
  });

  it.each([
    ["oidc_no_role", "You are not in a group that may use Preread."],
    ["oidc_unavailable", "Your sign-in provider does not answer."],
    ["<b>made up</b>", "You could not be signed in."],
  ])("is told why single sign-on failed with %s, once", async (code, sentence) => {
    window.history.replaceState(null, "", `/?sign_in=${encodeURIComponent(code)}#/admin`);
    serveSessions();
    render(<App />);
    expect((await screen.findByRole("alert")).textContent).toContain(sentence);
    expect(window.location.search).toBe("");
    expect(window.location.hash).toBe("#/admin");
  });

  it("can try again when the server does not answer", async () => {
    let broken = true;
    serveSessions({ "GET /auth/session": () => (broken ? json(PROBLEM, 503) : json(READER)) });
    present = READER;
    render(<App />);
    expect(await screen.findByText(PROBLEM.detail)).toBeTruthy();
    broken = false;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await box()).toBeTruthy();
  });
});

describe("somebody who is signed in", () => {
  it("sees who they are, and may sign out", async () => {
    serveSessions();
    render(<App />);
    await signInAs("ada");
    expect((await screen.findByTestId("who")).textContent).toBe("adaadminSign out");
    await userEvent.click(screen.getByRole("button", { name: "Sign out" }));
    expect(await screen.findByRole("heading", { name: "Sign in" })).toBeTruthy();
    expect(screen.queryByText(/no longer signed in/)).toBeNull();
    expect(screen.queryByTestId("document")).toBeNull();
  });

  it.each([
    [READER, { admin: false, write: false }],
    [EDITOR, { admin: false, write: true }],
    [ADMIN, { admin: true, write: true }],
  ])("has what the role $role may do, and no more", async (session, offered) => {
    serve({ ...signedIn(session), "GET /documents": () => json({ items: [DOCUMENT], total: 1 }) });
    render(<App />);
    await screen.findByTestId("document");
    expect(screen.queryByRole("link", { name: "Admin" }) !== null).toBe(offered.admin);
    expect(screen.queryByLabelText("Add documents") !== null).toBe(offered.write);
    expect(screen.queryByRole("button", { name: "Delete Travel rules" }) !== null).toBe(offered.write);
  });

  it("is shown the question box at an address that is for admins", async () => {
    window.location.hash = "#/admin";
    const { calls } = serve(signedIn(READER));
    render(<App />);
    expect(await box()).toBeTruthy();
    expect(calls).not.toContain("GET /admin/cache");
  });

  it("sends the CSRF token with what changes something, and with nothing else", async () => {
    const sent: Record<string, string | null> = {};
    const note = (name: string, answer: () => Response): Handler => ({ headers }) => {
      sent[name] = headers.get("X-CSRF-Token");
      return answer();
    };
    serve({
      ...signedIn(EDITOR),
      "GET /documents": note("list", () => json({ items: [DOCUMENT], total: 1 })),
      "DELETE /documents/doc_1": note("delete", () => new Response(null, { status: 204 })),
      "POST /ask": note("ask", () => json(PROBLEM, 503)),
    });
    render(<App />);
    await userEvent.type(await box(), "Why?{Enter}");
    await userEvent.click(await screen.findByRole("button", { name: "Delete Travel rules" }));
    await userEvent.click(screen.getByRole("button", { name: "Delete for good" }));
    await screen.findByText(PROBLEM.detail);
    expect(sent).toEqual({ list: null, ask: EDITOR.csrf_token, delete: EDITOR.csrf_token });
  });

  it("goes on after the session has changed in another tab", async () => {
    let token = "old";
    const refused = { ...PROBLEM, status: 403, code: "csrf", detail: "The token is another session's." };
    serve({
      ...signedIn(EDITOR),
      "GET /auth/session": () => json({ ...EDITOR, csrf_token: token }),
      "POST /ask": ({ headers }) => json(headers.get("X-CSRF-Token") === "new" ? PROBLEM : refused, 503),
    });
    render(<App />);
    await box();
    token = "new";
    await userEvent.type(await box(), "Why?{Enter}");
    await screen.findByText(refused.detail);
    await userEvent.click(screen.getByRole("button", { name: "Retry" }));
    expect(await screen.findByText(PROBLEM.detail)).toBeTruthy();
  });
});

describe("a session that ends", () => {
  it("keeps what was typed for whoever typed it", async () => {
    serveSessions({ "POST /ask": () => json(UNKNOWN, 401) });
    present = READER;
    render(<App />);
    await userEvent.type(await box(), "A long question");
    present = null;
    await userEvent.type(await box(), "{Enter}");
    expect(await screen.findByText(/You are no longer signed in/)).toBeTruthy();
    await signInAs("rita");
    expect((await box()).value).toBe("A long question");
    expect(screen.getByRole("heading", { name: "Ask your documents" })).toBeTruthy();
  });

  it("shows nobody else what was typed and answered", async () => {
    const stream = new LiveStream();
    serveSessions({ "POST /ask": stream.respond });
    present = READER;
    render(<App />);
    await userEvent.type(await box(), "Am I to be dismissed?{Enter}");
    await act(async () => stream.send("done", ANSWER));
    await userEvent.type(await box(), "A secret");
    present = null;
    await userEvent.type(screen.getByLabelText("Your question"), "!");
    serveSessions({ "POST /ask": () => json(UNKNOWN, 401) });
    await userEvent.type(screen.getByLabelText("Your question"), "{Enter}");
    await signInAs("ada");
    expect((await box()).value).toBe("");
    expect(screen.queryByText("Am I to be dismissed?")).toBeNull();
    expect(document.body.textContent).not.toContain("A secret");
  });

  it("costs nothing that was typed when signing in leaves the page", async () => {
    serveSessions();
    present = READER;
    const first = render(<App />);
    await userEvent.type(await box(), "Half a question");
    first.unmount();
    render(<App />);
    expect((await box()).value).toBe("Half a question");
  });

  it("leaves nothing behind in the tab after signing out", async () => {
    serveSessions();
    present = READER;
    render(<App />);
    await userEvent.type(await box(), "Half a question");
    await userEvent.click(screen.getByRole("button", { name: "Sign out" }));
    await signInAs("rita");
    expect((await box()).value).toBe("");
    expect(sessionStorage).toHaveLength(0);
  });
});
