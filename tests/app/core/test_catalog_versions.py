"""Versions and their chunks."""

import pytest
from catalog_rig import TENANT, Library, chunk

from app.core.catalog import Catalog, InvalidTransition, NewChunk, UnstorableText, VersionRetired, VersionState
from app.core.errors import BadInput


def test_publishing_twice_is_publishing_once(catalog: Catalog, library: Library) -> None:
    first = library.add("travel.md", "v1").pending_version_id or ""
    document = library.add("travel.md", "v1")
    catalog.claim(document.id, "worker", 60)
    assert catalog.publish_version(document.id, first, owner="worker") is None
    assert catalog.publish_version(document.id, first, owner="worker") is None

    second = library.add("travel.md", "v2").pending_version_id or ""
    catalog.claim(document.id, "worker", 60)
    assert catalog.publish_version(document.id, second, owner="worker") == first
    assert catalog.publish_version(document.id, second, owner="worker") is None
    published = catalog.get_document(TENANT, document.id)
    assert (published.current_version_id, published.pending_version_id) == (second, None)


def test_a_version_is_published_only_for_its_own_document(catalog: Catalog, library: Library) -> None:
    mine, other = library.add("a.md"), library.add("b.md")
    catalog.claim(mine.id, "worker", 60)
    catalog.claim(other.id, "worker", 60)
    with pytest.raises(VersionRetired):
        catalog.publish_version(mine.id, other.pending_version_id or "", owner="worker")
    with pytest.raises(VersionRetired):
        catalog.publish_version(mine.id, "ver_none", owner="worker")
    assert catalog.get_document(TENANT, other.id).current_version_id is None


def test_only_a_retired_version_can_be_dropped(catalog: Catalog, library: Library) -> None:
    old = library.publish(library.add("travel.md", "v1"), "old")
    document = library.add("travel.md", "v2")
    for version_id in (document.current_version_id, document.pending_version_id):
        with pytest.raises(InvalidTransition):
            catalog.drop_version(version_id or "")
    new = library.publish(document, "new")
    assert catalog.chunks_of(old[0].version_id) == old
    retired = catalog.get_version(old[0].version_id)
    assert retired
    assert retired.state is VersionState.RETIRED
    catalog.drop_version(retired.id)
    catalog.drop_version(retired.id)
    assert catalog.chunks_of(retired.id) == []
    assert catalog.retired_versions(document.id) == []
    assert catalog.chunks_of(new[0].version_id) == new


def test_chunks_come_back_as_they_were_saved(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    catalog.claim(document.id, "worker", 60)
    version_id = document.pending_version_id or ""
    new = [
        NewChunk(1, "二つ目の文。\n", 6, 13, 2, "Überschrift", [0, 7, 2**32 - 1], "hash of 1"),
        NewChunk(0, "Hello.", 0, 6, None, None, [], "hash of 0"),
    ]
    saved = catalog.save_chunks(version_id, new, owner="worker")
    assert [record.ordinal for record in saved] == [0, 1]
    assert catalog.chunks_of(version_id) == saved
    for record, source in zip(saved, reversed(new), strict=True):
        assert {field: getattr(record, field) for field in NewChunk.__dataclass_fields__} == vars(source)
        assert (record.document_id, record.document_name, record.tenant) == (document.id, "travel.md", TENANT)


def test_saving_again_replaces_and_keeps_the_ids(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    catalog.claim(document.id, "worker", 60)
    version_id = document.pending_version_id or ""
    before = catalog.save_chunks(version_id, [chunk(0, "a"), chunk(1, "b"), chunk(2, "c")], owner="worker")
    after = catalog.save_chunks(version_id, [chunk(0, "x"), chunk(1, "y")], owner="worker")
    assert [record.id for record in after] == [record.id for record in before[:2]]
    assert catalog.chunks_of(version_id) == after
    assert catalog.save_chunks(version_id, [], owner="worker") == []
    assert catalog.chunks_of(version_id) == []


def test_a_published_versions_chunks_are_not_replaced(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    chunks = library.publish(document, "text")
    catalog.claim(document.id, "worker", 60)
    with pytest.raises(VersionRetired):
        catalog.save_chunks(chunks[0].version_id, [], owner="worker")
    assert catalog.chunks_of(chunks[0].version_id) == chunks


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (NewChunk(1, "nul \0", 0, 5, None, None, [1], "h"), UnstorableText),
        (NewChunk(1, "text", 0, 4, None, "half \ud83d", [1], "h"), UnstorableText),
        (NewChunk(1, "text", 0, 4, None, None, [-1], "h"), BadInput),
        (NewChunk(1, "text", 0, 4, None, None, [2**32], "h"), BadInput),
    ],
)
def test_a_chunk_that_cannot_be_stored_leaves_the_ones_before(
    catalog: Catalog, library: Library, bad: NewChunk, error: type[BadInput]
) -> None:
    document = library.add("travel.md")
    kept = library.chunked(document, "kept")
    with pytest.raises(error):
        catalog.save_chunks(document.pending_version_id or "", [chunk(0, "new"), bad], owner="worker")
    assert catalog.chunks_of(document.pending_version_id or "") == kept


def test_chunks_by_id_gives_the_live_ones_in_the_order_asked(catalog: Catalog, library: Library) -> None:
    published = library.publish(library.add("a.md"), *(f"text {n}" for n in range(1200)))
    pending = library.chunked(library.add("b.md"), "pending")
    foreign = library.publish(library.add("c.md", tenant="other"), "foreign")
    backwards = published[::-1]
    ids = [record.id for record in backwards]
    assert catalog.chunks_by_id(TENANT, [pending[0].id, *ids, "chk_none", foreign[0].id, ids[0]]) == backwards
    assert catalog.chunks_by_id("other", ids) == []
    assert catalog.chunks_by_id(TENANT, []) == []
