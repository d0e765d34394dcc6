import json
from collections import deque
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from app.cli.add import files_to_add, wait_until_read
from app.cli.errors import NothingToAdd
from app.cli.main import cli
from app.core.settings import get_settings
from app.web.schemas.documents import DocumentAdded, DocumentOut
from app.web.schemas.problem import Problem
from app.web.schemas.urls import UrlAdded, UrlsAdded

PROBLEM = Problem(
    type="urn:x", title="Forbidden", status=403, detail="b.example is not allowed.", code="url_not_allowed",
    hint="See PREREAD_URL_HOSTS.", instance="http://b.example/",
)  # fmt: skip


def document(name: str) -> DocumentOut:
    return DocumentOut(
        id="doc_1", name=name, title=name, state="preread", failure=None, media_type="text/html", size_bytes=1,
        pages=None, chunks=1, chunks_ready=1, tokens=1, created_at=datetime.now(UTC), updated_at=datetime.now(UTC),
    )  # fmt: skip


@pytest.fixture
def service(own_state, server, monkeypatch):
    """Adds whatever file it is sent, and has fetched one of two URLs."""
    one, other = "https://a.example/x.html?v=1", "HTTP://b.example/"
    results = [UrlAdded(url=one, document=document(one), created=True), UrlAdded(url=other, error=PROBLEM)]
    added = DocumentAdded(document=document("a.md"), created=False)
    server.answers = {
        "/documents": (201, "application/json", added.model_dump_json().encode()),
        "/documents/urls": (200, "application/json", UrlsAdded(items=results).model_dump_json().encode()),
    }
    server.urls = [one, other]
    monkeypatch.setenv("PREREAD_WEB_URL", f"http://127.0.0.1:{server.server_port}")
    get_settings.cache_clear()
    return server


def test_a_folder_gives_its_known_files_under_their_paths_in_it(tmp_path) -> None:
    for name in ("a.md", "sub/b.PDF", "sub/c.mp4", ".git/d.md", "sub/.e.md", "f.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("x")
    assert [name for _, name in files_to_add([tmp_path])] == ["a.md", "f.txt", "sub/b.PDF"]


def test_a_file_named_by_the_user_is_taken_whatever_it_is(tmp_path) -> None:
    odd = tmp_path / "notes.odd"
    odd.write_text("x")
    assert files_to_add([odd]) == [(odd, "notes.odd")]


def test_nothing_to_add_is_an_error_that_says_what_is_looked_for(tmp_path) -> None:
    with pytest.raises(NothingToAdd) as caught:
        files_to_add([tmp_path])
    assert ".pdf" in caught.value.hint


def test_files_and_urls_are_added_together_with_their_labels(service, tmp_path) -> None:
    (tmp_path / "a.md").write_text("text")
    labels = ["--collection", "sea", "--collection", "port", "--tag", "blue"]
    result = CliRunner().invoke(cli, ["add", str(tmp_path / "a.md"), *service.urls, *labels])
    assert result.exit_code == 1, "one URL was refused"
    assert "known  doc_1  a.md" in result.stdout
    assert f"added  doc_1  {service.urls[0]}" in result.stdout
    assert "b.example is not allowed. See PREREAD_URL_HOSTS." in result.stdout
    (_, form), (_, body) = service.asked
    assert [form.count(each) for each in (b'"collections"', b'"tags"', b"sea", b"port", b"blue")] == [2, 1, 1, 1, 1]
    assert json.loads(body) == {"urls": service.urls, "collections": ["sea", "port"], "tags": ["blue"]}


def test_nothing_is_sent_where_a_path_does_not_exist(service, tmp_path) -> None:
    result = CliRunner().invoke(cli, ["add", service.urls[0], str(tmp_path / "none.md")])
    assert (result.exit_code, service.asked) == (2, [])
    assert "does not exist" in result.output


class Reading:
    """Finishes the documents one after the other, one whenever it is asked for one that is not finished."""

    def __init__(self, names: list[str]) -> None:
        self.unread = deque(names)
        self.rounds: list[list[str]] = []

    def document(self, document_id: str) -> DocumentOut:
        self.rounds[-1].append(document_id)
        state = "indexed" if document_id in self.unread else "preread"
        if state == "indexed":
            self.unread.popleft()
        return document(document_id).model_copy(update={"id": document_id, "state": state})


def test_many_documents_are_waited_for_a_few_at_a_time(monkeypatch) -> None:
    names = [f"doc_{number}" for number in range(100)]
    reading = Reading(names)
    monkeypatch.setattr("app.cli.add.time.sleep", lambda _: reading.rounds.append([]))
    received = [document(name).model_copy(update={"id": name, "state": "received"}) for name in names]
    read = wait_until_read(reading, received)
    assert [(each.id, each.state) for each in read] == [(name, "preread") for name in names]
    assert reading.rounds[0] == names[:10]
    assert len(reading.rounds) <= 12
