"""The checks of a run see what they are there to see."""

import time

import httpx
import pytest
from chaos_pages import Page, pages_in
from chaos_plan import Way
from findings import Findings
from patience import AskAgain, Patience, accepted
from reader import Answered, Reader
from shelf import Shelf
from state import StackState

from app.core.catalog import Catalog
from app.core.settings import Settings
from kvstore.staging import staged_path
from workers.files import DocumentFiles

PAGE = Page("tides.md", "# Tides\n\n## High water\n\nHigh water is at noon. Low water is at six.\n")
QUESTION = PAGE.question


@pytest.fixture
def reader():
    shelf = Shelf()
    shelf.added("doc_1", PAGE)
    return Reader("http://unused", shelf, Patience(), Findings())


def answer(text="At noon.", *, way=Way.EXACT, begun=0.0, passage=PAGE.text, citations=(), status="answered", hits=1):
    shown = {"document_id": "doc_1", "text": passage}
    done = {
        "request_id": "req_1",
        "answer": text,
        "status": status,
        "citations": list(citations),
        "cache": {"chunks": 1, "hits": hits, "misses": []},
        "fusion": {"used": bool(hits)},
    }
    return Answered(QUESTION, way, begun, [shown], done)


def citation(start, end, quote):
    return {"document_id": "doc_1", "start": start, "end": end, "quote": quote}


def wrong(reader):
    return set(reader.findings.wrong)


def test_a_fine_answer_is_found_fine(reader):
    start = PAGE.text.index("High water is")
    reader.examine(answer(citations=[citation(start, start + 21, PAGE.text[start : start + 21])]))
    reader.examine(answer(way=Way.FRESH))
    reader.examine(answer("At six.", way=Way.FUSED, hits=0))
    reader.examine_quotes()
    assert reader.findings.well
    assert reader.findings.examined["quotes stand in their documents"] == 1


def test_a_passage_of_a_document_that_was_deleted_before_the_question_is_found(reader):
    reader.shelf.deleted("doc_1")
    reader.examine(answer(begun=0.0))
    assert reader.findings.well, "the question came first"
    reader.examine(answer(begun=time.monotonic() + 1))
    assert wrong(reader) == {"answers without deleted documents"}


def test_answers_that_differ_where_they_must_not_are_found(reader):
    reader.examine(answer("At noon."))
    reader.examine(answer("At six.", way=Way.FRESH))
    assert wrong(reader) == {"equal answers, all fresh"}


def test_an_answer_that_does_not_end_well_is_found(reader):
    reader.examine(answer(status="stopped"))
    assert wrong(reader) == {"answers end well"}


def test_quotes_and_passages_that_stand_in_no_document_are_found(reader):
    reader.examine(answer(passage="Nobody wrote this.", citations=[citation(0, 5, "Nobody")]))
    reader.examine_quotes()
    assert wrong(reader) == {"passages stand in their documents", "quotes stand in their documents"}


def test_replaced_and_deleted_revisions_are_forbidden_until_they_come_back():
    shelf, newer = Shelf(), Page(PAGE.name, PAGE.body, 1)
    shelf.added("doc_1", PAGE)
    shelf.added("doc_1", newer)
    assert not shelf.forbidden_marks(), "the old revision answers until the new one does"
    shelf.published()
    assert set(shelf.forbidden_marks()) == {PAGE.mark}
    shelf.deleted("doc_1")
    assert set(shelf.forbidden_marks()) == {PAGE.mark, newer.mark}
    shelf.added("doc_2", PAGE)
    assert set(shelf.forbidden_marks()) == {newer.mark}


def test_rows_files_and_captures_of_a_document_are_found(tmp_path):
    settings = Settings(state_dir=tmp_path)
    catalog = Catalog(settings.effective_database_url)
    catalog.migrate()
    document, _ = catalog.add_document(settings.tenant, PAGE.name, PAGE.sha256, "text/markdown", len(PAGE.data))
    DocumentFiles(settings.files_dir).keep_text(settings.tenant, document.id, PAGE.sha256, PAGE.text)
    capture = staged_path(settings.effective_staging_dir, "a" * 64)
    capture.parent.mkdir()
    capture.touch()
    with httpx.Client() as http:
        state = StackState(settings, http)
        assert state.rows_of(document.id) == {"documents": 1, "versions": 1}
        assert [path.parent.name for path in state.files_named(document.id)] == [document.id]
        assert len(state.files_with({PAGE.mark: "the page"})) == 1
        assert state.staged() == [capture.name]
        assert state.rows_of("doc_other") == {}
        assert state.files_named("doc_other") == []
        state.close()
    catalog.close()


def test_a_killed_request_is_sent_again_and_a_refused_one_is_not():
    answers = iter([503, 502, 200])
    request = httpx.Request("GET", "http://unused")

    def attempt():
        return accepted(httpx.Response(next(answers), json={"code": "away"}, request=request), 200).status_code

    patience = Patience(pause_seconds=0.0)
    assert patience.until_answered("asking", attempt) == 200
    assert patience.reasons == {"away": 2}
    with pytest.raises(AssertionError):
        accepted(httpx.Response(500, json={}, request=request), 200)
    with pytest.raises(AskAgain):
        accepted(httpx.Response(503, json={"code": "away"}, request=request), 200)


def test_pages_are_chosen_by_the_seed_and_a_folder_with_too_few_is_told(tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\n{'word ' * 200}")
    (tmp_path / "short.md").write_text("# Short\n")
    assert pages_in(tmp_path, 3, 1) == pages_in(tmp_path, 3, 1)
    assert {page.name for page in pages_in(tmp_path, 4, 1)} == {f"{number}.md" for number in range(4)}
    with pytest.raises(ValueError, match="4 pages"):
        pages_in(tmp_path, 5, 1)
