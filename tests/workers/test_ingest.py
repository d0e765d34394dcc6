import sys
from datetime import UTC, datetime

import pytest

import workers.ingest
from app.core.catalog import DocumentState
from kvstore.key import ids_hash
from retrieval.errors import IndexUnavailable
from retrieval.index import Scope
from retrieval.search import Retriever
from workers.claim import claimed
from workers.deletion import delete_document
from workers.ingest import ingest
from workers.upkeep import reconcile

TENANT = "default"
LEAVE = (
    "# Leave\n\n"
    + "\n\n".join(f"Rule {n}: a clerk of grade {n} has {20 + n} days of leave in a year." for n in range(12))
    + "\n"
)


def state(context, document):
    return context.catalog.get_document(TENANT, document.id).state


def retrieve(context, question, **scope):
    retriever = Retriever(context.embedder, context.index, context.catalog)
    return retriever.retrieve(TENANT, question, 50, -1.0, Scope(**scope))


def test_an_ingested_document_is_found_word_for_word(context, add):
    document = add("leave.md", LEAVE)
    assert ingest(document.id, context)
    record = context.catalog.get_document(TENANT, document.id)
    assert (record.state, record.title, record.pending_version_id) == (DocumentState.INDEXED, "Leave", None)
    version = context.catalog.get_version(record.current_version_id)
    text = context.files.text(TENANT, document.id, version.sha256)
    chunks = context.catalog.chunks_of(version.id)
    assert len(chunks) > 3
    assert context.index.count(TENANT, document.id) == len(chunks)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert context.tokenizer.encode(chunk.text) == chunk.token_ids
        assert chunk.ids_hash == ids_hash(chunk.token_ids)
    assert retrieve(context, "How much leave has a clerk of grade 7?")


def test_ingesting_twice_makes_nothing_twice(context, add, leftovers):
    document = add("leave.md", LEAVE)
    ingest(document.id, context)
    before = leftovers()
    assert ingest(document.id, context)
    assert leftovers() == before


def test_a_file_without_text_fails_with_the_reason_and_the_next_file_works(context, add):
    empty = add("scan.txt", "  \n ")
    good = add("leave.md", LEAVE)
    assert not ingest(empty.id, context)
    failed = context.catalog.get_document(TENANT, empty.id)
    assert (failed.state, failed.failure_code) == (DocumentState.FAILED, "empty_document")
    assert "Add a file with text in it." in failed.failure_message
    assert ingest(good.id, context)


def test_a_file_that_breaks_its_parser_down_fails_alone(context, add, monkeypatch):
    document = add("leave.md", LEAVE)
    monkeypatch.setattr("retrieval.parsing.apart._COMMAND", [sys.executable, "-c", "import os; os.abort()"])
    assert not ingest(document.id, context)
    failed = context.catalog.get_document(TENANT, document.id)
    assert (failed.state, failed.failure_code) == (DocumentState.FAILED, "parser_crashed")
    assert not ingest(document.id, context), "what failed is not tried again by itself"
    monkeypatch.undo()
    context.catalog.retry(document.id)
    assert ingest(document.id, context)


def test_an_unexpected_error_fails_the_document_not_the_worker(context, add, monkeypatch):
    document = add("leave.md", LEAVE)

    def broken(data, name, limits):
        raise RecursionError("too deep")

    monkeypatch.setattr("workers.ingest.parse_apart", broken)
    assert not ingest(document.id, context)
    assert context.catalog.get_document(TENANT, document.id).failure_code == "unexpected_error"
    monkeypatch.undo()
    context.catalog.retry(document.id)
    assert ingest(document.id, context)


def test_an_index_that_does_not_answer_leaves_the_document_to_be_taken_up_again(context, add, monkeypatch):
    document = add("leave.md", LEAVE)

    def away(chunks):
        raise IndexUnavailable("The index does not answer.")

    monkeypatch.setattr(context.index, "upsert", away)
    with pytest.raises(IndexUnavailable):
        ingest(document.id, context)
    assert state(context, document) is DocumentState.CHUNKED
    monkeypatch.undo()
    assert ingest(document.id, context)


def test_a_document_that_another_worker_has_is_left_alone(context, add):
    document = add("leave.md", LEAVE)
    with claimed(context.catalog, document.id, 60):
        assert not ingest(document.id, context)
    assert state(context, document) is DocumentState.RECEIVED


def test_a_file_still_on_its_way_is_waited_for(context):
    document, _ = context.catalog.add_document(TENANT, "slow.md", "ab" * 32, "text/markdown", 4)
    assert not ingest(document.id, context)
    assert state(context, document) is DocumentState.RECEIVED


def test_new_bytes_replace_the_old_text_everywhere(context, add):
    document = add("leave.md", LEAVE)
    ingest(document.id, context)
    assert add("leave.md", "# Leave\n\nEverybody has forty days of leave.\n").id == document.id
    assert any("grade" in passage.text for passage in retrieve(context, "leave")), "the old version still answers"
    ingest(document.id, context)
    assert any("forty" in passage.text for passage in retrieve(context, "leave"))
    assert not any("grade" in passage.text for passage in retrieve(context, "leave"))
    record = context.catalog.get_document(TENANT, document.id)
    assert context.index.count(TENANT) == len(context.catalog.chunks_of(record.current_version_id))
    assert context.catalog.retired_versions(document.id) == []


def test_an_ingested_document_is_found_by_its_labels(context, add):
    document, other = add("leave.md", LEAVE), add("bridge.md", "The leave of a bridge.")
    context.catalog.set_labels(TENANT, document.id, ["staff"], ["2024", "new"])
    ingest(document.id, context)
    ingest(other.id, context)
    found = retrieve(context, "leave", collections=("staff",), tags=("new", "old"))
    assert {passage.document_id for passage in found} == {document.id}
    assert retrieve(context, "leave", collections=("press",)) == []


@pytest.mark.parametrize("told", [True, False], ids=["and told to the index at once", "and not told to the index"])
@pytest.mark.parametrize("step", ["embed_texts", "upsert", "publish_version"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_labels_that_change_during_ingest_hold(context, add, monkeypatch, step, before, told):
    document = add("leave.md", LEAVE)
    context.catalog.set_labels(TENANT, document.id, ["old"], [])
    place = next(part for part in (context.embedder, context.index, context.catalog) if hasattr(part, step))
    original = getattr(place, step)

    def relabel():
        context.catalog.set_labels(TENANT, document.id, ["new"], ["tag"])
        if told:
            context.index.label(TENANT, document.id, ["new"], ["tag"])

    def interrupted(*args, **kwargs):
        if before:
            relabel()
        result = original(*args, **kwargs)
        if not before:
            relabel()
        return result

    monkeypatch.setattr(place, step, interrupted)
    assert ingest(document.id, context)
    count = context.index.count(TENANT, document.id)
    found = retrieve(context, "leave of a clerk", collections=("new",), tags=("tag",))
    assert len(found) == count
    assert [each.collections for each in context.index.holdings().versions] == [("new",)]


def test_an_ingest_that_was_killed_after_publishing_settles_the_labels(context, add, monkeypatch):
    class Killed(BaseException):
        pass

    def dying(*_):
        raise Killed

    document = add("leave.md", LEAVE)
    monkeypatch.setattr("workers.ingest.settle_labels", dying)
    with pytest.raises(Killed):
        ingest(document.id, context)
    monkeypatch.undo()
    context.catalog.set_labels(TENANT, document.id, ["new"], [])
    assert ingest(document.id, context)
    assert [each.collections for each in context.index.holdings().versions] == [("new",)]


@pytest.mark.parametrize("stage", ["parse", "split", "embed", "upsert", "publish"])
def test_a_document_deleted_at_any_stage_of_ingest_leaves_nothing(context, add, leftovers, monkeypatch, stage):
    document = add("leave.md", LEAVE)
    place, name = {
        "parse": (workers.ingest, "parse_apart"),
        "split": (workers.ingest, "split"),
        "embed": (context.embedder, "embed_texts"),
        "upsert": (context.index, "upsert"),
        "publish": (context.catalog, "publish_version"),
    }[stage]
    original = getattr(place, name)

    def then_deleted(*args, **kwargs):
        monkeypatch.undo()
        result = original(*args, **kwargs)
        delete_document(TENANT, document.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
        return result

    monkeypatch.setattr(place, name, then_deleted)
    assert not ingest(document.id, context)
    assert retrieve(context, "leave") == []
    reconcile(context, set(), datetime.now(UTC))
    found = leftovers()
    assert (found["documents"], found["vectors"], found["files"]) == (0, 0, 0)
