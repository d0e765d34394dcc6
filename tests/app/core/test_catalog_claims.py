"""Leases: one worker at a time, and nothing from a worker whose time has passed."""

from collections.abc import Callable

import pytest
from catalog_rig import TENANT, Clock, Library, chunk, wanted

from app.core.catalog import (
    Catalog,
    ClaimLost,
    Document,
    DocumentGone,
    DocumentState,
    InvalidTransition,
    VersionRetired,
    WorkRefused,
)

Write = Callable[[Catalog, Document], object]


def _pending(document: Document) -> str:
    assert document.pending_version_id
    return document.pending_version_id


WRITES: dict[str, Write] = {
    "renew": lambda catalog, document: catalog.renew(document.id, "first", 60),
    "advance": lambda catalog, document: catalog.advance(document.id, "first", DocumentState.PARSED),
    "fail": lambda catalog, document: catalog.fail(document.id, "first", "code", "message"),
    "save_parsed": lambda catalog, document: catalog.save_parsed(
        _pending(document), owner="first", title="Stale", media_type="text/html", pages=1
    ),
    "save_chunks": lambda catalog, document: catalog.save_chunks(
        _pending(document), [chunk(0, "stale")], owner="first"
    ),
    "publish_version": lambda catalog, document: catalog.publish_version(
        document.id, _pending(document), owner="first"
    ),
    "want_readings": lambda catalog, document: catalog.want_readings(document.id, "first", [wanted("stale")]),
}
each_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


def _everything(catalog: Catalog, document: Document) -> tuple[object, ...]:
    return (
        catalog.list_documents(TENANT),
        catalog.get_version(_pending(document)),
        catalog.chunks_of(_pending(document)),
        catalog.readings(TENANT, [wanted("stale").ids_hash]),
    )


@pytest.fixture
def document(library: Library) -> Document:
    return library.add("travel.md")


def test_a_claimed_document_is_not_claimed_by_another(catalog: Catalog, document: Document, clock: Clock) -> None:
    claimed = catalog.claim(document.id, "first", 60)
    assert claimed
    assert claimed.claim_owner == "first"
    assert claimed.claim_until
    assert (claimed.claim_until - clock.now).total_seconds() == 60
    assert catalog.claim(document.id, "second", 60) is None
    assert catalog.claim(document.id, "first", 60) == claimed
    assert catalog.claim("doc_none", "first", 60) is None


def test_a_released_document_can_be_claimed(catalog: Catalog, document: Document) -> None:
    catalog.claim(document.id, "first", 60)
    catalog.release(document.id, "second")
    assert catalog.claim(document.id, "second", 60) is None
    catalog.release(document.id, "first")
    assert catalog.claim(document.id, "second", 60)
    catalog.release("doc_none", "first")


def test_a_lease_that_ran_out_can_be_taken(catalog: Catalog, document: Document, clock: Clock) -> None:
    catalog.claim(document.id, "first", 60)
    clock.advance(59.999)
    assert catalog.claim(document.id, "second", 60) is None
    clock.advance(0.001)
    assert catalog.claim(document.id, "second", 60)


def test_a_renewed_lease_lasts_longer(catalog: Catalog, document: Document, clock: Clock) -> None:
    catalog.claim(document.id, "first", 60)
    clock.advance(59)
    catalog.renew(document.id, "first", 60)
    clock.advance(59)
    assert catalog.claim(document.id, "second", 60) is None


@each_write
def test_a_worker_whose_lease_was_taken_writes_nothing(
    catalog: Catalog, document: Document, clock: Clock, write: Write
) -> None:
    catalog.claim(document.id, "first", 60)
    clock.advance(60)
    catalog.claim(document.id, "second", 60)
    before = _everything(catalog, document)
    with pytest.raises(ClaimLost):
        write(catalog, document)
    assert _everything(catalog, document) == before


@each_write
def test_a_document_deleted_while_it_is_worked_on_takes_no_more_writes(
    catalog: Catalog, document: Document, write: Write
) -> None:
    catalog.claim(document.id, "first", 60)
    catalog.begin_delete(TENANT, document.id)
    before = _everything(catalog, document)
    with pytest.raises(DocumentGone):
        write(catalog, document)
    assert _everything(catalog, document) == before


@each_write
def test_a_deleted_document_takes_no_more_writes(catalog: Catalog, document: Document, write: Write) -> None:
    catalog.claim(document.id, "first", 60)
    catalog.begin_delete(TENANT, document.id)
    catalog.finish_delete(document.id)
    before = _everything(catalog, document)
    with pytest.raises(WorkRefused):
        write(catalog, document)
    assert _everything(catalog, document) == before


@each_write
def test_new_bytes_end_the_work_on_the_old_ones(
    catalog: Catalog, document: Document, library: Library, write: Write
) -> None:
    catalog.claim(document.id, "first", 60)
    library.add("travel.md", "v2")
    assert catalog.claim(document.id, "second", 60)
    before = _everything(catalog, document)
    with pytest.raises(ClaimLost):
        write(catalog, document)
    assert _everything(catalog, document) == before


@pytest.mark.parametrize("write", [WRITES["save_parsed"], WRITES["save_chunks"], WRITES["publish_version"]])
def test_even_the_holder_cannot_write_to_a_retired_version(
    catalog: Catalog, document: Document, library: Library, write: Write
) -> None:
    library.add("travel.md", "v2")
    catalog.claim(document.id, "first", 60)
    with pytest.raises(VersionRetired):
        write(catalog, document)


def test_a_worker_that_deletes_holds_the_document_like_any_other(catalog: Catalog, document: Document) -> None:
    catalog.claim(document.id, "worker", 60)
    catalog.begin_delete(TENANT, document.id)
    deleting = catalog.claim(document.id, "first", 60)
    assert deleting
    assert deleting.state is DocumentState.DELETING
    catalog.renew(document.id, "first", 60)
    with pytest.raises(DocumentGone):
        WRITES["advance"](catalog, document)


def test_work_is_what_nobody_holds_and_nothing_has_settled(catalog: Catalog, library: Library, clock: Clock) -> None:
    waiting, held, failed, deleting, indexed = (library.add(name) for name in "abcde")
    preread = library.add("f", tenant="other")
    library.publish(indexed, "text")
    library.publish(preread, "text")
    catalog.claim(preread.id, "worker", 60)
    catalog.advance(preread.id, "worker", DocumentState.PREREAD)
    catalog.release(preread.id, "worker")
    catalog.claim(held.id, "worker", 60)
    catalog.claim(failed.id, "worker", 60)
    catalog.fail(failed.id, "worker", "code", "message")
    catalog.claim(deleting.id, "worker", 60)
    catalog.begin_delete(TENANT, deleting.id)

    def needing_work() -> set[str]:
        return {document.id for document in catalog.documents_needing_work(clock.now)}

    assert needing_work() == {waiting.id, deleting.id, indexed.id}
    clock.advance(60)
    assert needing_work() == {waiting.id, deleting.id, indexed.id, held.id}
    catalog.request_preread("other")
    assert preread.id in needing_work()


def test_steps_need_what_they_say_they_finished(catalog: Catalog, library: Library, document: Document) -> None:
    catalog.claim(document.id, "worker", 60)
    for state in (DocumentState.INDEXED, DocumentState.PREREAD):
        with pytest.raises(InvalidTransition):
            catalog.advance(document.id, "worker", state)
    for state in (DocumentState.PARSED, DocumentState.CHUNKED, DocumentState.PARSED):
        assert catalog.advance(document.id, "worker", state).state is state
    for state in (DocumentState.RECEIVED, DocumentState.FAILED, DocumentState.DELETING):
        with pytest.raises(InvalidTransition):
            catalog.advance(document.id, "worker", state)
    catalog.publish_version(document.id, _pending(document), owner="worker")
    with pytest.raises(InvalidTransition):
        catalog.advance(document.id, "worker", DocumentState.PARSED)
    for state in (DocumentState.INDEXED, DocumentState.PREREAD, DocumentState.INDEXED):
        assert catalog.advance(document.id, "worker", state).state is state


def test_a_failed_document_goes_no_further_until_it_is_retried(catalog: Catalog, document: Document) -> None:
    catalog.claim(document.id, "worker", 60)
    catalog.fail(document.id, "worker", "code", "message")
    catalog.claim(document.id, "worker", 60)
    with pytest.raises(InvalidTransition):
        catalog.advance(document.id, "worker", DocumentState.PARSED)
    catalog.retry(document.id)
    catalog.claim(document.id, "worker", 60)
    catalog.advance(document.id, "worker", DocumentState.PARSED)
