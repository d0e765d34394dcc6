"""Documents out: what deleting, replacing and re-indexing leave behind, counted in every store."""

import asyncio
import errno
import os
from datetime import UTC, datetime, timedelta

import pytest
from bombs import HARMLESS
from fastapi.testclient import TestClient
from refused_files import TEXTLESS
from served import files_under

from app.core.catalog import DatabaseUnavailable
from workers.ingest import ingest
from workers.preread import preread
from workers.upkeep import reconcile

RULES = (
    "# Rules\n\n" + "\n\n".join(f"Rule {n}: a clerk of grade {n} has {20 + n} days of leave." for n in range(20)) + "\n"
)
NEW_RULES = (
    "# Rules\n\n" + "\n\n".join(f"Article {n}: a sailor of rank {n} has {n} days ashore." for n in range(9)) + "\n"
)
QUESTION = "How many days of leave has a clerk of grade 7?"


def repair(served):
    """All that workers still do, some time later: nothing may come back by it."""
    later = datetime.now(UTC) + timedelta(hours=1)
    reconcile(served.context, set(), later)


def old_traces(served, word, question=QUESTION):
    return [source["text"] for source in served.sources(question) if word in source["text"]]


class TestDeleted:
    """Case 9. Once the answer to a deletion has come, nothing of the document is found, cited, shown or stored."""

    def test_nothing_of_it_is_told_by_any_route_and_nothing_is_left_in_any_store(self, empty):
        other = empty.add("other.md", "# Harbour\n\nThe harbour opens at dawn.\n")
        empty.preread(other["id"])
        before = empty.left()
        rules = empty.add("rules.md", RULES)
        empty.preread(rules["id"])
        assert empty.shown(rules["id"])["state"] == "preread"
        assert rules["id"] in {source["document_id"] for source in empty.sources(QUESTION)}
        grown = empty.left()
        assert all(grown[name] > before[name] for name in ("documents", "chunks", "vectors", "files", "kv"))
        assert empty.client.delete(f"/documents/{rules['id']}").status_code == 204
        assert empty.left() == before
        for path in ("", "/text", "/file"):
            assert empty.client.get(f"/documents/{rules['id']}{path}").status_code == 404
        assert empty.client.get(f"/documents/{rules['id']}/vectors").json() == {"vectors": 0}
        assert empty.client.get("/documents", params={"q": "rules"}).json()["total"] == 0
        assert old_traces(empty, "clerk") == []
        assert empty.sources(QUESTION, scope={"document_ids": [rules["id"]]}) == []
        repair(empty)
        assert empty.left() == before

    def test_an_answer_that_is_under_way_when_it_is_deleted_is_the_last_with_it(self, empty):
        rules = empty.add("rules.md", RULES)
        seen = []

        def deleted_meanwhile():
            seen.append(empty.client.delete(f"/documents/{rules['id']}").status_code)

        empty.engine.script.insert(0, deleted_meanwhile)
        empty.client.post("/ask", json={"question": QUESTION})
        empty.engine.behave()
        assert seen == [204]
        assert empty.sources(QUESTION) == []
        assert empty.left() == dict.fromkeys(empty.left(), 0)


def uploaded(served):
    return served.upload("rules.md", RULES)["document"]["id"]


def indexed(served):
    return served.add("rules.md", RULES)["id"]


def half_read(served):
    document_id = indexed(served)
    assert served.preread_some(document_id)
    assert served.left()["kv"] > 0
    return document_id


def fully_read(served):
    document_id = indexed(served)
    served.preread(document_id)
    return document_id


def failed(served):
    return served.add("rules.md", TEXTLESS["blank.pdf"][0])["id"]


def replaced_soon(served):
    document_id = fully_read(served)
    served.upload("rules.md", NEW_RULES)
    return document_id


def replaced(served):
    document_id = fully_read(served)
    served.add("rules.md", NEW_RULES)
    return document_id


def replacement_failed(served):
    document_id = fully_read(served)
    served.add("rules.md", TEXTLESS["blank.pdf"][0])
    return document_id


def taken_by_a_worker_that_died(served):
    document_id = uploaded(served)
    assert served.services.catalog.claim(document_id, "worker", 1)
    return document_id


STAGES = [
    uploaded, taken_by_a_worker_that_died, indexed, half_read, fully_read, failed, replaced_soon, replaced,
    replacement_failed,
]  # fmt: skip


class TestDeletedAtAnyStage:
    """Case 10. A document that is deleted at whatever stage leaves nothing, also when the wake-ups that were sent for
    it are followed afterwards. (Deletions in the middle of a stage: tests/workers.)"""

    @pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
    def test_nothing_is_left_and_nothing_comes_back(self, empty, stage):
        document_id = stage(empty)
        assert empty.client.delete(f"/documents/{document_id}").status_code == 204
        assert empty.client.get(f"/documents/{document_id}").status_code == 404
        assert empty.sources(QUESTION) == []
        context = empty.context
        ingest(document_id, context)
        preread(document_id, context)
        repair(empty)
        assert empty.left() == dict.fromkeys(empty.left(), 0)
        assert empty.client.delete(f"/documents/{document_id}").status_code == 404

    def test_a_retry_of_what_is_deleted_brings_nothing_back(self, empty):
        document_id = failed(empty)
        empty.client.delete(f"/documents/{document_id}")
        assert empty.client.post(f"/documents/{document_id}/retry").status_code == 404
        assert empty.client.post("/precompute", json={"document_id": document_id}).status_code == 404
        assert empty.left() == dict.fromkeys(empty.left(), 0)


async def broken_off(app, body, content_type):
    """A request whose sender goes away in the middle of it."""
    messages = iter([{"type": "http.request", "body": body, "more_body": True}, {"type": "http.disconnect"}])
    sent = []

    async def receive():
        return next(messages)

    async def send(message):
        sent.append(message)

    headers = [(b"content-type", content_type), (b"content-length", b"900000"), (b"host", b"test")]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": "/documents",
        "raw_path": b"/documents", "query_string": b"", "headers": headers, "scheme": "http", "server": ("test", 80),
        "client": ("test", 1), "root_path": "",
    }  # fmt: skip
    try:
        await app(scope, receive, send)
    except Exception:  # noqa: BLE001  (whatever the server would log)
        return sent
    return sent


class TestUploadsThatFail:
    """Case 11. What is refused, breaks off or fails leaves the counts of every store as they were."""

    @pytest.mark.parametrize(
        ("name", "data", "code"),
        [
            ("large.txt", b"x" * 1_000_001, "file_too_large"),
            ("vast.txt", b"x" * 3_000_000, "too_large"),
            ("empty.txt", b"", "empty_file"),
            (" ", b"text", "bad_name"),
            ("n" * 1_001, b"text", "bad_name"),
        ],
        ids=["a file over the limit", "a request over the limit", "empty", "blank name", "endless name"],
    )
    def test_a_refused_upload_leaves_nothing(self, empty, name, data, code):
        answer = empty.client.post("/documents", files={"file": (name, data)})
        assert (400 <= answer.status_code < 500, answer.json()["code"]) == (True, code)
        assert empty.left() == dict.fromkeys(empty.left(), 0)

    @pytest.mark.parametrize("arrived", [10, 100, 600_000])
    def test_an_upload_that_breaks_off_leaves_nothing(self, empty, arrived):
        head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\n'
        body = (head + b"t" * 700_000)[:arrived]
        asyncio.run(broken_off(empty.client.app, body, b"multipart/form-data; boundary=x"))
        assert empty.left() == dict.fromkeys(empty.left(), 0)

    def test_a_full_disk_leaves_nothing(self, empty, monkeypatch):
        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        answer = lenient(empty).post("/documents", files={"file": ("a.txt", b"text")})
        assert answer.status_code >= 500
        monkeypatch.undo()
        assert empty.left() == dict.fromkeys(empty.left(), 0)
        assert empty.add("a.txt", b"text")["state"] == "indexed"

    def test_a_database_that_goes_away_in_the_middle_leaves_nothing(self, empty, monkeypatch):
        def away(*_, **__):
            raise DatabaseUnavailable("The database does not answer.")

        monkeypatch.setattr(empty.services.catalog, "add_document", away)
        answer = empty.client.post("/documents", files={"file": ("a.txt", b"text")})
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
        monkeypatch.undo()
        assert empty.left() == dict.fromkeys(empty.left(), 0)

    @pytest.mark.parametrize(
        "data", [TEXTLESS["scan.pdf"][0], HARMLESS["corner.xlsx"][0]()[:2000]], ids=["scan", "cut off"]
    )
    def test_a_file_that_fails_keeps_its_bytes_to_be_tried_again_and_nothing_else(self, empty, data):
        shown = empty.add("bad.bin", data)
        assert shown["state"] == "failed"
        left = empty.left()
        assert left == {**dict.fromkeys(left, 0), "documents": 1, "jobs": 1, "files": 1}
        repair(empty)
        assert empty.left() == left, "it is not tried again by itself"
        empty.client.delete(f"/documents/{shown['id']}")
        assert empty.left() == dict.fromkeys(left, 0)

    def test_nothing_lies_in_the_folder_that_belongs_to_nothing(self, empty):
        for name in ("a.md", "b.md"):
            empty.client.delete(f"/documents/{empty.add(name, RULES + name)['id']}")
        assert files_under(empty.services.settings.files_dir) == 0


def lenient(served):
    """A client that gets the answer that a server gives to an unexpected error."""
    return TestClient(served.client.app, raise_server_exceptions=False, headers=dict(served.client.headers))


class TestUpdated:
    """Case 13. A new version replaces the old one as a whole, once it can answer, and not before; where it cannot, the
    old one goes on answering and the document says why."""

    @pytest.mark.parametrize(
        ("old", "new"), [(RULES, NEW_RULES), (NEW_RULES, RULES), (RULES, "One line of the sailor.")]
    )
    def test_as_many_vectors_as_chunks_and_no_old_word_anywhere(self, empty, old, new):
        first = empty.add("rules.md", old)
        empty.preread(first["id"])
        second = empty.add("rules.md", new)
        assert second["id"] == first["id"]
        empty.preread(second["id"])
        chunks = empty.left()["chunks"]
        assert empty.services.index.count(empty.tenant) == chunks == second["chunks"]
        assert second["chunks"] != first["chunks"]
        gone = "clerk" if old is RULES else "sailor"
        assert gone not in empty.text(second["id"])
        assert old_traces(empty, gone) == []
        assert old_traces(empty, gone, "How many days ashore has a sailor of rank 3?") == []
        empty.client.delete(f"/documents/{second['id']}")
        empty.upload("rules.md", new)
        left = empty.left()
        assert (left["kv"], left["vectors"], left["files"]) == (0, 0, 1), "the old version left nothing either"

    def test_the_old_version_answers_until_the_new_one_does(self, empty, monkeypatch):
        document = empty.add("rules.md", RULES)
        empty.upload("rules.md", NEW_RULES)
        assert old_traces(empty, "clerk")
        seen, upsert = [], empty.services.index.upsert

        def noting(chunks):
            upsert(chunks)
            seen.append(
                (bool(old_traces(empty, "clerk")), bool(old_traces(empty, "sailor", "How long is a sailor ashore?")))
            )

        monkeypatch.setattr(empty.services.index, "upsert", noting)
        assert ingest(document["id"], empty.context)
        assert seen
        assert set(seen) == {(True, False)}
        assert old_traces(empty, "clerk") == []
        assert old_traces(empty, "sailor", "How long is a sailor ashore?")

    def test_a_new_version_that_fails_leaves_the_old_one_answering_and_says_why(self, empty):
        first = empty.add("rules.md", RULES)
        empty.preread(first["id"])
        before = empty.left()
        shown = empty.add("rules.md", TEXTLESS["blank.pdf"][0])
        assert (shown["state"], shown["failure"]["code"]) == ("failed", "empty_document")
        assert old_traces(empty, "clerk")
        assert "clerk" in empty.text(first["id"])
        assert empty.client.get(f"/documents/{first['id']}/file").text == RULES
        after = empty.left()
        assert (after["chunks"], after["vectors"], after["kv"]) == (before["chunks"], before["vectors"], before["kv"])
        (job,) = empty.client.get("/jobs", params={"state": "dead"}).json()["items"]
        assert (job["document_id"], job["reason_code"]) == (first["id"], "empty_document")

    def test_an_update_that_broke_off_half_indexed_is_finished_whole(self, empty, monkeypatch):
        document = empty.add("rules.md", RULES)
        empty.upload("rules.md", NEW_RULES)
        publish = empty.services.catalog.publish_version

        def killed(*_, **__):
            raise SystemExit

        monkeypatch.setattr(empty.services.catalog, "publish_version", killed)
        with pytest.raises(SystemExit):
            ingest(document["id"], empty.context)
        assert old_traces(empty, "clerk")
        assert old_traces(empty, "sailor", "How long is a sailor ashore?") == []
        monkeypatch.setattr(empty.services.catalog, "publish_version", publish)
        assert ingest(document["id"], empty.context)
        assert empty.services.index.count(empty.tenant) == empty.shown(document["id"])["chunks"]
        assert old_traces(empty, "clerk") == []
