"""Readings behind a passage: whose text it is, and when it is no longer the right one."""

import pytest
from catalog_rig import TENANT, Library, behind, ids_hash, wanted

from app.core.catalog import Catalog, Document, ReadingRecord, ReadingState


@pytest.fixture
def document(catalog: Catalog, library: Library) -> Document:
    document = library.add("travel.md")
    library.publish(document, "text")
    claimed = catalog.claim(document.id, "worker", 60)
    assert claimed
    return claimed


def conditioned(catalog: Catalog, text: str = "text") -> ReadingRecord:
    (record,) = [r for r in catalog.readings(TENANT, [ids_hash(text)]) if r.reading == "conditioned"]
    return record


def test_a_reading_behind_another_passage_than_is_wanted_is_stale_until_it_is_made_anew(
    catalog: Catalog, document: Document
) -> None:
    neutral, own = behind("text", "neutral"), behind("text", "own", document.current_version_id)
    catalog.want_readings(document.id, "worker", [neutral])
    assert catalog.reading_ready(TENANT, neutral.key, 4, 100)
    for _ in range(2):
        catalog.want_readings(document.id, "worker", [own])
        record = conditioned(catalog)
        assert (record.state, record.conditioning_hash) == (ReadingState.STALE, own.conditioning_hash)
        assert record.passage_version_id == document.current_version_id
    assert catalog.kv_at_rest(TENANT).bytes == 0
    assert catalog.reading_ready(TENANT, own.key, 4, 100, document.current_version_id)
    catalog.want_readings(document.id, "worker", [own])
    assert conditioned(catalog).state is ReadingState.READY


def test_a_reading_made_behind_text_that_is_no_longer_wanted_is_refused(catalog: Catalog, document: Document) -> None:
    own = behind("text", "own", document.current_version_id)
    catalog.want_readings(document.id, "worker", [own])
    catalog.mark_stale(TENANT, [own.key, "unknown"])
    assert not catalog.reading_ready(TENANT, own.key, 4, 100, document.current_version_id)
    assert conditioned(catalog).state is ReadingState.STALE
    catalog.want_readings(document.id, "worker", [behind("text", "neutral")])
    assert catalog.reading_ready(TENANT, own.key, 4, 100)


def test_readings_are_found_by_the_version_whose_text_they_were_read_behind(
    catalog: Catalog, library: Library
) -> None:
    a = library.add("a.md")
    library.publish(a, "first", "shared")
    version = a.pending_version_id
    assert version
    own = behind("shared", "first", version)
    library.preread(a, behind("first", "neutral"), own, wanted("shared"))
    assert [r.key for r in catalog.readings_behind(TENANT, [version])] == [own.key]
    assert catalog.readings_behind("other", [version]) == []
    catalog.begin_delete(TENANT, a.id)
    assert [r.key for r in catalog.readings_behind(TENANT, [version])] == [own.key]


def test_text_before_a_chunk_is_foreign_once_another_live_document_has_the_chunk(
    catalog: Catalog, library: Library
) -> None:
    a, b = library.add("a.md"), library.add("b.md")
    library.publish(a, "first", "shared", "shared")
    own = behind("shared", "first", a.pending_version_id)
    library.preread(a, behind("first", "neutral"), own, wanted("shared"))
    for name in ("c.md", "d.md", "e.md"):
        other = library.add(name)
        library.publish(other, f"text of {name}")
        library.preread(other, behind(f"text of {name}", "before", other.pending_version_id))
        assert catalog.readings_behind_foreign_text(TENANT, [ids_hash(f"text of {name}")]) == []
    hashes = [ids_hash("first"), ids_hash("shared")]
    assert catalog.readings_behind_foreign_text(TENANT, hashes) == []
    library.chunked(b, "first", "shared")
    assert [r.key for r in catalog.readings_behind_foreign_text(TENANT, hashes)] == [own.key]
    assert catalog.readings_behind_foreign_text(TENANT, hashes[:1]) == []
    catalog.begin_delete(TENANT, b.id)
    assert catalog.readings_behind_foreign_text(TENANT, hashes) == []


def test_documents_that_share_a_chunk_are_those_with_it_in_a_live_version(catalog: Catalog, library: Library) -> None:
    a, b = library.add("a.md"), library.add("b.md")
    library.publish(a, "only a", "shared", "shared")
    library.chunked(b, "shared")
    library.publish(library.add("theirs.md", tenant="other"), "shared")
    hashes = [ids_hash("only a"), ids_hash("shared")]
    assert catalog.sharing_documents(TENANT, hashes) == {hashes[0]: {a.id}, hashes[1]: {a.id, b.id}}
    assert catalog.sharing_documents(TENANT, hashes, excluding=a.id) == {hashes[1]: {b.id}}
    catalog.begin_delete(TENANT, b.id)
    assert catalog.sharing_documents(TENANT, hashes, excluding=a.id) == {}


def test_an_answer_can_wish_for_a_reading_while_a_live_document_has_the_chunk(
    catalog: Catalog, document: Document
) -> None:
    opening = wanted("text")
    assert catalog.wish_reading(opening)
    assert [r.state for r in catalog.readings(TENANT, [opening.ids_hash])] == [ReadingState.WANTED]
    assert catalog.reading_ready(TENANT, opening.key, 4, 100)
    assert catalog.wish_reading(opening)
    assert [r.state for r in catalog.readings(TENANT, [opening.ids_hash])] == [ReadingState.READY]
    assert not catalog.wish_reading(wanted("unheard of"))
    catalog.begin_delete(TENANT, document.id)
    catalog.drop_readings(TENANT, [opening.key])
    assert not catalog.wish_reading(opening)
    assert catalog.readings(TENANT, [opening.ids_hash]) == []
