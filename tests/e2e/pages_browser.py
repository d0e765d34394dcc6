"""Chromium on the pages of a running stack, watched for requests elsewhere and for complaints."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

SCRIPTS = Path(__file__).parents[2] / "scripts"
DEADLINE_MS = 120_000
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@contextmanager
def chromium() -> Iterator[Browser]:
    found = subprocess.run(
        ["bash", "-c", f"source {SCRIPTS / 'chromium.sh'}; find_chromium"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, "there is no Chromium here: `make test` installs it or says how"
    expect.set_options(timeout=DEADLINE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.stdout.strip(), args=OPTIONS)
        yield browser
        browser.close()


def sign_in(page: Page, url: str, name: str, password: str) -> None:
    """From the page's context, which keeps the cookie."""
    answer = page.request.post(f"{url}/auth/session", data={"name": name, "password": password})
    assert answer.status == 200, answer.text()


@contextmanager
def opened(
    browser: Browser, url: str, complaint: str = "", user: tuple[str, str] | None = None
) -> Iterator[Page]:
    """The first page at `url`. At the end: nothing was asked of another origin, and the console holds no error.

    `complaint`: part of the only errors that may stand there. `user`: name and password of who is signed in.
    """
    page = browser.new_page()
    if user is not None:
        sign_in(page, url, *user)
    page.set_default_timeout(DEADLINE_MS)
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        page.goto(url)
        yield page
        assert asked
        assert [other for other in asked if not other.startswith(f"{url}/")] == []
        assert [other for other in complaints if not complaint or complaint not in other] == []
    finally:
        page.close()
