"""Signing in on the pages, in a real browser: who is in, what they are offered, and keys that work."""

import httpx
import pytest
from pages_browser import chromium, opened
from playwright.sync_api import expect

# The browser notes every 401 in its console; that nobody is signed in is told by one.
UNKNOWN = "status of 401"


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def sign_in(page, name, password):
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_a_stranger_signs_in_and_out(browser, stack):
    name, password = stack.user
    with opened(browser, stack.url, complaint=UNKNOWN) as page:
        sign_in(page, name, "wrong")
        expect(page.get_by_role("alert")).to_contain_text("wrong")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_test_id("who")).to_contain_text(name)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        expect(page.get_by_label("Your question")).to_have_count(0)


def test_what_was_typed_outlives_the_session(browser, stack):
    with opened(browser, stack.url, complaint=UNKNOWN, user=stack.user) as page:
        page.get_by_label("Your question").fill("How many vans are there?")
        page.context.clear_cookies()
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_text("You are no longer signed in")).to_be_visible()
        sign_in(page, *stack.user)
        expect(page.get_by_label("Your question")).to_have_value("How many vans are there?")


def test_a_key_made_on_the_page_works_until_it_is_revoked(browser, stack):
    with opened(browser, stack.url, user=stack.user) as page:
        page.get_by_role("link", name="Admin").click()
        form = page.get_by_role("form", name="New key")
        form.get_by_label("Name").fill("made on the page")
        form.get_by_role("button", name="Make a key").click()
        headers = {"Authorization": f"Bearer {page.get_by_test_id('secret').input_value()}"}
        assert httpx.get(f"{stack.url}/documents", headers=headers, trust_env=False).status_code == 200
        page.get_by_role("button", name="I have it").click()
        page.get_by_role("button", name="Revoke made on the page").click()
        page.get_by_role("button", name="Revoke for good").click()
        expect(page.get_by_role("rowheader", name="made on the page")).to_have_count(0)
        page.get_by_role("button", name="Refresh the audit log").click()
        expect(page.get_by_role("table", name="Who did what")).to_contain_text("key.revoke")
