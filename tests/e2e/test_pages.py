"""The pages in a real browser: ask, stop, add, delete, look at the cache."""

import json
import re

import pytest
from pages_browser import chromium, opened
from playwright.sync_api import expect
from preread_client import handbook_page
from waiting import wait_until

MILEAGE = "What is the mileage rate for your own car?"
LEAVE = "How many days of annual leave do full-time employees have?"

pytestmark = pytest.mark.usefixtures("handbook")


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser, stack):
    with opened(browser, stack.url, user=stack.user) as page:
        yield page


def ask(page, question):
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask").click()


def ask_for_a_long_answer(route):
    question = {**route.request.post_data_json, "max_tokens": 6000, "temperature": 2}
    route.continue_(post_data=json.dumps(question))


def answer_card(page, phase):
    return page.locator(f'[data-testid="answer-card"][data-phase="{phase}"]')


def document_row(page, name):
    return page.get_by_test_id("document").filter(has_text=name)


def test_an_answer_streams_in_with_its_sources_and_what_the_cache_did(page):
    ask(page, MILEAGE)
    expect(answer_card(page, "done")).to_be_visible()
    expect(page.get_by_test_id("answer-text")).to_contain_text("0.42 euros")
    expect(page.get_by_test_id("source").first).to_contain_text("Expenses")
    expect(page.locator("mark").first).to_contain_text("0.42 euros")
    line = re.compile(r"^(\d+) of \1 chunks? from cache, first token after \d+(\.\d+)? s$")
    expect(page.get_by_test_id("cache-line")).to_have_text(line)


def test_without_cache_the_page_says_that_nothing_came_from_it(page):
    page.get_by_label("Answer without cache").check()
    ask(page, MILEAGE)
    expect(page.get_by_test_id("cache-line")).to_have_text(re.compile(r"^0 of \d+ chunks? from cache, first token"))


def test_the_stop_button_ends_an_answer(page, client):
    page.route("**/ask", ask_for_a_long_answer)
    finished = client.engine_metric("vllm:request_success_total")
    ask(page, LEAVE)
    expect(page.get_by_test_id("answer-text")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(answer_card(page, "stopped")).to_contain_text("You stopped this answer")
    expect(page.get_by_role("button", name="Ask")).to_be_visible()
    wait_until(lambda: client.engine_metric("vllm:num_requests_running") == 0, "the engine has stopped too")
    assert client.engine_metric("vllm:request_success_total") == finished


def test_a_question_that_finds_nothing_is_answered_honestly(page):
    ask(page, "Which zebra won the quantum chess tournament?")
    expect(answer_card(page, "done")).to_contain_text("Not found in your documents")


def test_a_file_is_added_through_the_page_and_deleted_after_confirming(page, client, tmp_path):
    path = tmp_path / "glossary.md"
    path.write_text(handbook_page("glossary.md"))
    page.get_by_label("Add documents").set_input_files(path)
    row = document_row(page, "glossary.md")
    expect(row).to_contain_text("Pre-read")
    expect(row).to_have_attribute("data-state", "preread")
    document_id = row.get_attribute("data-document-id")
    assert client.document(document_id)["chunks_ready"] > 0

    row.get_by_role("button", name=re.compile("^Delete ")).click()
    row.get_by_role("button", name="Keep").click()
    expect(row).to_be_visible()
    row.get_by_role("button", name=re.compile("^Delete ")).click()
    row.get_by_role("button", name="Delete for good").click()
    expect(row).to_have_count(0)
    assert client.http.get(f"/documents/{document_id}").status_code == 404


def test_a_file_that_holds_no_text_shows_why_it_failed(page, client, tmp_path):
    path = tmp_path / "blank.txt"
    path.write_text(" \n \n")
    page.get_by_label("Add documents").set_input_files(path)
    row = document_row(page, "blank.txt")
    expect(row).to_have_attribute("data-state", "failed")
    expect(row).to_contain_text("text")
    client.delete(row.get_attribute("data-document-id"))


def test_the_cache_view_shows_the_numbers_of_the_api(page, client):
    def report():
        return client.http.get("/admin/cache").json()

    before = report()["lookups"]
    client.ask(MILEAGE, max_tokens=1)
    wait_until(lambda: report()["lookups"] > before, "the answer's look-ups are counted")
    page.get_by_role("link", name="Admin").click()
    tiles = page.get_by_test_id("cache-tiles")
    for name in ("Lookups", "Hits", "Misses", "Tokens reused"):
        tile = tiles.locator("div", has=page.get_by_text(name, exact=True))
        expect(tile.locator("dd")).to_have_text(f"{report()[name.lower().replace(' ', '_')]:,}")
    table = page.get_by_role("region", name="Documents")
    for document in report()["documents"]:
        row = table.get_by_role("row", name=document["name"])
        expect(row).to_contain_text(f"{document['chunks_ready']} of {document['chunks']}")
        expect(row).to_contain_text(f"{document['tokens']:,}")


def test_a_refused_question_is_shown_as_an_error_with_a_way_on(browser, stack):
    with opened(browser, stack.url, complaint="status of 422", user=stack.user) as page:
        ask(page, f"{LEAVE} " * 1500)
        expect(page.get_by_test_id("problem")).to_contain_text("tokens; the model has room for")
        page.get_by_role("button", name="Edit question").click()
        expect(page.get_by_label("Your question")).to_be_focused()
