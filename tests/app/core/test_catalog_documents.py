"""Documents: added once, listed, retried, deleted."""

from datetime import timedelta

import pytest
from catalog_rig import TENANT, Clock, Library, ids_hash, wanted

from app.core.catalog import (
    Catalog,
    DocumentFilter,
    DocumentGone,
    DocumentNotFound,
    DocumentState,
    InvalidTransition,
    UnstorableText,
    VersionState,
)


def test_a_new_document_is_received_with_a_pending_version(catalog: Catalog, clock: Clock) -> None:
    document, created = catalog.add_document(TENANT, "travel.md", ids_hash("v1"), "text/markdown", 2)
    assert created
    assert document.state is DocumentState.RECEIVED
    assert document.current_version_id is None
    assert document.title == document.name == "travel.md"
    assert document.created_at == document.updated_at == clock.now
    assert document.created_at.utcoffset() == timedelta(0)
    version = catalog.get_version(document.pending_version_id or "")
    assert version
    assert (version.sha256, version.media_type, version.size_bytes) == (ids_hash("v1"), "text/markdown", 2)
    assert (version.title, version.pages, version.state) == (None, None, VersionState.PENDING)


def test_the_same_bytes_are_the_same_document_under_any_name(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md", "text")
    assert catalog.add_document(TENANT, "travel.md", ids_hash("text"), "text/markdown", 4) == (document, False)
    assert catalog.add_document(TENANT, "copy.md", ids_hash("text"), "text/markdown", 4) == (document, False)
    assert catalog.list_documents(TENANT).total == 1


def test_tenants_share_neither_bytes_nor_names(catalog: Catalog, library: Library) -> None:
    mine, theirs = library.add("travel.md"), library.add("travel.md", tenant="other")
    assert mine.id != theirs.id
    with pytest.raises(DocumentNotFound):
        catalog.get_document(TENANT, theirs.id)
    with pytest.raises(DocumentNotFound):
        catalog.document_row(TENANT, theirs.id)
    with pytest.raises(DocumentNotFound):
        catalog.begin_delete(TENANT, theirs.id)
    assert catalog.list_documents("other").items == (theirs,)


def test_new_bytes_under_a_known_name_wait_while_the_published_version_answers(
    catalog: Catalog, library: Library
) -> None:
    document = library.add("travel.md", "v1")
    old = library.publish(document, "old text")
    changed = library.add("travel.md", "v2")
    assert changed.id == document.id
    assert changed.state is DocumentState.RECEIVED
    assert changed.current_version_id == document.pending_version_id
    assert changed.pending_version_id not in (None, document.pending_version_id)
    assert changed.generation == document.generation + 1
    assert catalog.chunks_by_id(TENANT, [old[0].id]) == old

    new = library.publish(changed, "new text")
    assert catalog.chunks_by_id(TENANT, [old[0].id, new[0].id]) == new
    assert [version.id for version in catalog.retired_versions(document.id)] == [document.pending_version_id]


def test_newer_bytes_take_the_place_of_bytes_still_pending(catalog: Catalog, library: Library) -> None:
    first = library.add("travel.md", "v1")
    second = library.add("travel.md", "v2")
    assert first.id == second.id
    assert [version.id for version in catalog.retired_versions(first.id)] == [first.pending_version_id]


def test_bytes_that_come_back_bring_their_version_back(catalog: Catalog, library: Library, clock: Clock) -> None:
    first = library.add("travel.md", "v1")
    library.publish(first, "old")
    second = library.add("travel.md", "v2")
    library.publish(second, "new")
    clock.advance(5)
    again = library.add("travel.md", "v1")
    assert (again.pending_version_id, again.current_version_id) == (first.pending_version_id, second.pending_version_id)
    assert catalog.retired_versions(first.id) == []
    version = catalog.get_version(again.pending_version_id or "")
    assert version
    assert version.created_at == clock.now
    library.publish(again, "old again")
    assert [retired.id for retired in catalog.retired_versions(first.id)] == [second.pending_version_id]


def test_adding_the_published_bytes_again_gives_up_the_pending_ones(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md", "v1")
    library.publish(document, "text")
    pending = library.add("travel.md", "v2").pending_version_id
    restored = library.add("travel.md", "v1")
    assert restored.current_version_id == document.pending_version_id
    assert restored.pending_version_id is None
    assert restored.state is DocumentState.RECEIVED
    assert [version.id for version in catalog.retired_versions(document.id)] == [pending]
    assert catalog.claim(document.id, "worker", 60)
    assert catalog.advance(document.id, "worker", DocumentState.INDEXED).state is DocumentState.INDEXED


def test_lists_are_newest_first_in_pages(catalog: Catalog, library: Library, clock: Clock) -> None:
    added = []
    for n in range(5):
        added.append(library.add(f"{n}.md"))
        clock.advance(1)
    newest_first = tuple(reversed(added))
    assert catalog.list_documents(TENANT, limit=2).items == newest_first[:2]
    page = catalog.list_documents(TENANT, limit=2, offset=4)
    assert (page.items, page.total) == (newest_first[4:], 5)


@pytest.mark.parametrize("query", ["ÜBER", "über", "50%_RAISE", "r das"])
def test_a_search_matches_part_of_the_name_or_title_in_any_case(catalog: Catalog, library: Library, query: str) -> None:
    document = library.add("über das Jahr.md" if "%" not in query else "a 50%_raise.md")
    library.add("501 raises.md")
    page = catalog.list_documents(TENANT, chosen=DocumentFilter(query))
    assert ([found.id for found in page.items], page.total) == ([document.id], 1)


def test_a_document_bears_the_title_of_the_version_that_answers(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md", "v1")
    catalog.claim(document.id, "worker", 60)
    first = document.pending_version_id or ""
    catalog.save_parsed(first, owner="worker", title="Travel", media_type="text/html", pages=3)
    assert catalog.get_document(TENANT, document.id).title == "Travel"
    catalog.publish_version(document.id, first, owner="worker")

    second = library.add("travel.md", "v2").pending_version_id or ""
    catalog.claim(document.id, "worker", 60)
    catalog.save_parsed(second, owner="worker", title="Journeys", media_type="text/html", pages=4)
    assert catalog.get_document(TENANT, document.id).title == "Travel"
    catalog.publish_version(document.id, second, owner="worker")
    assert catalog.get_document(TENANT, document.id).title == "Journeys"
    version = catalog.get_version(second)
    assert version
    assert (version.title, version.media_type, version.pages) == ("Journeys", "text/html", 4)


@pytest.mark.parametrize("name", ["nul\0.md", "half \ud83d.md"])
def test_a_name_that_cannot_be_stored_is_refused(catalog: Catalog, name: str) -> None:
    with pytest.raises(UnstorableText):
        catalog.add_document(TENANT, name, ids_hash("x"), "text/plain", 1)
    assert catalog.list_documents(TENANT).total == 0


def test_only_a_failed_document_is_retried(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    assert catalog.retry(document.id) == document
    catalog.claim(document.id, "worker", 60)
    failed = catalog.fail(document.id, "worker", "no_text_found", "No text, only \0 pictures.")
    assert (failed.state, failed.failure_code) == (DocumentState.FAILED, "no_text_found")
    assert failed.failure_message == "No text, only \N{REPLACEMENT CHARACTER} pictures."
    assert failed.claim_owner is None

    retried = catalog.retry(document.id)
    assert (retried.state, retried.failure_code, retried.failure_message) == (DocumentState.RECEIVED, None, None)
    assert retried.pending_version_id == document.pending_version_id
    assert retried.generation == document.generation + 1
    with pytest.raises(DocumentNotFound):
        catalog.retry("doc_none")


def test_a_failed_new_version_leaves_the_published_one_answering(catalog: Catalog, library: Library) -> None:
    chunks = library.publish(library.add("travel.md", "v1"), "text")
    document = library.add("travel.md", "v2")
    catalog.claim(document.id, "worker", 60)
    catalog.fail(document.id, "worker", "unreadable_file", "It is damaged.")
    assert catalog.chunks_by_id(TENANT, [chunks[0].id]) == chunks


def test_a_document_being_deleted_is_invisible_to_retrieval_at_once(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    chunks = library.publish(document, "text")
    deleting = catalog.begin_delete(TENANT, document.id)
    assert deleting.state is DocumentState.DELETING
    assert catalog.chunks_by_id(TENANT, [chunks[0].id]) == []
    assert catalog.published_documents(TENANT) == []
    assert catalog.begin_delete(TENANT, document.id) == deleting
    with pytest.raises(DocumentGone):
        catalog.retry(document.id)


def test_a_finished_deletion_leaves_no_row(catalog: Catalog, library: Library, clock: Clock) -> None:
    document = library.add("travel.md")
    chunks = library.publish(document, "text")
    catalog.record_lookups(TENANT, {}, {}, {document.id: (1, 0)}, clock.now)
    with pytest.raises(InvalidTransition):
        catalog.finish_delete(document.id)
    catalog.begin_delete(TENANT, document.id)
    catalog.finish_delete(document.id)
    catalog.finish_delete(document.id)
    with pytest.raises(DocumentNotFound):
        catalog.get_document(TENANT, document.id)
    assert catalog.get_version(chunks[0].version_id) is None
    assert catalog.chunks_of(chunks[0].version_id) == []
    assert catalog.retired_versions(document.id) == []


def test_the_name_and_bytes_of_a_document_being_deleted_are_free(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    catalog.begin_delete(TENANT, document.id)
    again = library.add("travel.md")
    assert again.id != document.id
    assert again.state is DocumentState.RECEIVED
    catalog.finish_delete(document.id)
    assert catalog.get_document(TENANT, again.id) == again


def test_requesting_pre_reading_makes_pre_read_documents_wait_again(catalog: Catalog, library: Library) -> None:
    documents = [library.add(f"{name}.md") for name in "abc"]
    for document in documents[:2]:
        library.publish(document, document.name)
        library.preread(document, wanted(document.name))
        catalog.claim(document.id, "worker", 60)
        catalog.advance(document.id, "worker", DocumentState.PREREAD)
        catalog.release(document.id, "worker")
    first, second, unread = documents
    assert catalog.request_preread(TENANT, [first.id, unread.id]) == [first.id]
    assert catalog.get_document(TENANT, second.id).state is DocumentState.PREREAD
    assert set(catalog.request_preread(TENANT)) == {first.id, second.id}
    assert catalog.request_preread("other") == []
    assert {document.id for document in catalog.published_documents(TENANT)} == {first.id, second.id}
