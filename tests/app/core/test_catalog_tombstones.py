"""Tombstones: written with the change that they go with, standing until they are revived or purged."""

from datetime import timedelta

import pytest
from catalog_rig import TENANT, Clock, Library, behind, ids_hash, wanted

from app.core.catalog import Catalog, Document, ReadingState, Tombstone


@pytest.fixture
def document(catalog: Catalog, library: Library) -> Document:
    document = library.add("travel.md")
    library.publish(document, "text")
    library.preread(document, wanted("text"), wanted("text", model="older"), wanted("text", preamble="older"))
    return document


KEYS = sorted(
    reading.key for reading in (wanted("text"), wanted("text", model="older"), wanted("text", preamble="older"))
)


def buried(catalog: Catalog, document: Document) -> list[Tombstone]:
    """The tombstones of the document's deletion."""
    catalog.begin_delete(TENANT, document.id)
    assert catalog.bury_document(TENANT, document.id, [ids_hash("text")]) == KEYS
    return catalog.standing_tombstones(TENANT, KEYS)


def test_a_deletion_buries_every_reading_ever_made_and_outlives_the_documents_rows(
    catalog: Catalog, document: Document, clock: Clock
) -> None:
    tombstones = buried(catalog, document)
    assert [(each.key, each.document_id, each.deleted_at) for each in tombstones] == [
        (key, document.id, clock.now) for key in KEYS
    ]
    assert catalog.readings(TENANT, [ids_hash("text")]) == []
    assert catalog.standing_tombstones("other", KEYS) == []
    catalog.finish_delete(document.id)
    assert [each.key for each in catalog.tombstones_of(TENANT, document.id)] == ["", *KEYS]
    assert catalog.tombstones_of("other", document.id) == []


def test_a_deletion_that_left_no_reading_is_known_all_the_same(catalog: Catalog, library: Library) -> None:
    document = library.add("short.md")
    catalog.begin_delete(TENANT, document.id)
    assert catalog.bury_document(TENANT, document.id, []) == []
    (tombstone,) = catalog.tombstones_of(TENANT, document.id)
    assert not tombstone.stands
    assert catalog.due_tombstones(tombstone.deleted_at, 10) == []


def test_a_chunk_of_another_live_document_is_not_buried_under_any_model_or_preamble(
    catalog: Catalog, library: Library, document: Document
) -> None:
    library.publish(library.add("copy.md"), "text")
    catalog.begin_delete(TENANT, document.id)
    assert catalog.bury_document(TENANT, document.id, [ids_hash("text")]) == []
    records = catalog.readings(TENANT, [ids_hash("text")])
    assert [(record.key, record.state) for record in records] == [(key, ReadingState.READY) for key in KEYS]


def test_a_stale_reading_is_buried_for_the_document_whose_text_it_was_read_behind(
    catalog: Catalog, library: Library, document: Document
) -> None:
    own = behind("text", "own", document.pending_version_id)
    library.preread(document, own)
    catalog.mark_stale(TENANT, [own.key, wanted("text").key, "unknown"])
    found = catalog.standing_tombstones(TENANT, [own.key, *KEYS, "unknown"])
    assert {(each.key, each.document_id) for each in found} == {(own.key, document.id), (wanted("text").key, "")}


def test_a_revived_key_stands_no_more_until_it_is_buried_anew(
    catalog: Catalog, library: Library, document: Document, clock: Clock
) -> None:
    before = buried(catalog, document)
    catalog.revive(before)
    assert catalog.standing_tombstones(TENANT, KEYS) == []
    clock.advance(1)
    again = library.add("again.md")
    library.publish(again, "text")
    library.preread(again, wanted("text"))
    catalog.begin_delete(TENANT, again.id)
    catalog.bury_document(TENANT, again.id, [ids_hash("text")])
    catalog.revive(before)
    catalog.tombstones_purged(before, clock.now)
    (standing,) = catalog.standing_tombstones(TENANT, KEYS)
    assert (standing.key, standing.document_id) == (wanted("text").key, again.id)


def test_a_revival_that_comes_after_a_second_burial_is_void(
    catalog: Catalog, library: Library, document: Document, clock: Clock
) -> None:
    own = behind("text", "own", document.pending_version_id)
    library.preread(document, own)
    catalog.mark_stale(TENANT, [own.key])
    first = catalog.standing_tombstones(TENANT, [own.key])
    clock.advance(1)
    catalog.attribute_readings(TENANT, [own.key], document.pending_version_id or "")
    catalog.mark_stale(TENANT, [own.key])
    catalog.revive(first)
    assert [each.deleted_at for each in catalog.standing_tombstones(TENANT, [own.key])] == [clock.now]


def test_tombstones_come_when_they_are_due_and_go_long_after_they_are_purged(
    catalog: Catalog, document: Document, clock: Clock
) -> None:
    tombstones = buried(catalog, document)
    assert catalog.due_tombstones(clock.now, 2) == tombstones[:2]
    later = clock.now + timedelta(seconds=60)
    catalog.postpone_tombstones(dict.fromkeys(tombstones[1:], later))
    assert catalog.due_tombstones(clock.now, 9) == tombstones[:1]
    catalog.tombstones_purged(tombstones[:1], clock.now)
    assert catalog.due_tombstones(later, 9) == tombstones[1:]
    catalog.drop_tombstones(clock.now)
    assert len(catalog.tombstones_of(TENANT, document.id)) == 4
    catalog.drop_tombstones(later)
    assert [each.key for each in catalog.tombstones_of(TENANT, document.id)] == [each.key for each in tombstones[1:]]


def test_what_the_engine_has_forgotten_is_noted_until_it_fails_to(
    catalog: Catalog, document: Document, clock: Clock
) -> None:
    def forgotten() -> set[object]:
        return {each.forgotten_at for each in catalog.standing_tombstones(TENANT, KEYS)}

    tombstones = buried(catalog, document)
    assert forgotten() == {None}
    first = clock.now
    catalog.engine_asked(tombstones, forgot=True)
    clock.advance(5)
    catalog.engine_asked(tombstones, forgot=True)
    assert forgotten() == {first}
    catalog.engine_asked(tombstones, forgot=False)
    assert forgotten() == {None}
