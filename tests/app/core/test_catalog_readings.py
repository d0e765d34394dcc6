"""Readings: wanted before they are made, gone when nobody shares them."""

from dataclasses import replace

import pytest
from catalog_rig import TENANT, Clock, Library, ids_hash, wanted

from app.core.catalog import Catalog, Document, Gone, KvAtRest, ReadingRecord, ReadingState


@pytest.fixture
def document(catalog: Catalog, library: Library) -> Document:
    document = library.add("travel.md")
    library.publish(document, "text")
    claimed = catalog.claim(document.id, "worker", 60)
    assert claimed
    return claimed


def test_a_reading_is_wanted_then_ready(catalog: Catalog, document: Document, clock: Clock) -> None:
    reading = replace(wanted("text"), conditioning_hash="c" * 64, profile_id="p" * 32)
    catalog.want_readings(document.id, "worker", [reading])
    (record,) = catalog.readings(TENANT, [ids_hash("text")])
    assert (record.state, record.n_tokens, record.bytes, record.error) == (ReadingState.WANTED, 0, 0, None)
    assert {field: getattr(record, field) for field in vars(reading)} == vars(reading)
    assert catalog.kv_at_rest(TENANT).bytes == 0

    clock.advance(5)
    assert catalog.reading_ready(TENANT, reading.key, 4, 2**33)
    (ready,) = catalog.readings(TENANT, [ids_hash("text")])
    assert ready == replace(record, state=ReadingState.READY, n_tokens=4, bytes=2**33, updated_at=clock.now)
    assert catalog.kv_at_rest(TENANT).bytes == 2**33
    assert catalog.kv_at_rest("other").bytes == 0


def test_wanting_again_keeps_what_is_ready_and_revives_what_failed(catalog: Catalog, document: Document) -> None:
    good, bad = wanted("text"), wanted("text", model="other model")
    catalog.want_readings(document.id, "worker", [good, bad])
    catalog.reading_ready(TENANT, good.key, 4, 100)
    assert catalog.reading_failed(TENANT, bad.key, "The engine \0 died.")
    states = {record.key: record for record in catalog.readings(TENANT, [ids_hash("text")])}
    assert states[bad.key].state is ReadingState.FAILED
    assert states[bad.key].error == "The engine \N{REPLACEMENT CHARACTER} died."

    catalog.want_readings(document.id, "worker", [good, bad, good])
    after = {record.key: record for record in catalog.readings(TENANT, [ids_hash("text")])}
    assert after[good.key] == states[good.key]
    assert (after[bad.key].state, after[bad.key].error) == (ReadingState.WANTED, None)


def test_a_preamble_has_a_reading_of_its_own(catalog: Catalog) -> None:
    preamble = wanted("preamble")
    catalog.want_preamble(preamble)
    catalog.want_preamble(preamble)
    assert catalog.reading_ready(TENANT, preamble.key, 30, 7)
    assert catalog.kv_at_rest(TENANT).bytes == 7


def test_a_reading_that_is_ready_after_its_document_was_deleted_is_not_wanted(
    catalog: Catalog, document: Document
) -> None:
    reading = wanted("text")
    catalog.want_readings(document.id, "worker", [reading])
    catalog.begin_delete(TENANT, document.id)
    assert catalog.bury_orphans(TENANT, document.id, [ids_hash("text")]) == [reading.key]
    assert not catalog.reading_ready(TENANT, reading.key, 4, 100)
    assert not catalog.reading_failed(TENANT, reading.key, "late")
    assert catalog.readings(TENANT, [ids_hash("text")]) == []


def test_a_reading_is_orphaned_only_when_no_live_chunk_shares_it(catalog: Catalog, library: Library) -> None:
    a, b = library.add("a.md"), library.add("b.md")
    library.publish(a, "only a", "shared")
    library.publish(b, "shared")
    library.preread(a, wanted("only a"), wanted("only a", model="older"), wanted("shared"))
    hashes = [ids_hash("only a"), ids_hash("shared")]

    assert catalog.bury_orphans(TENANT, a.id, hashes) == []
    catalog.begin_delete(TENANT, a.id)
    keys = wanted("only a").key, wanted("only a", model="older").key
    assert catalog.bury_orphans(TENANT, a.id, hashes) == sorted(keys)
    catalog.begin_delete(TENANT, b.id)
    assert catalog.bury_orphans(TENANT, b.id, hashes) == [wanted("shared").key]


def test_a_chunk_that_survives_into_the_next_version_keeps_its_reading(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md", "v1")
    library.publish(document, "kept", "removed")
    library.preread(document, wanted("kept"), wanted("removed"))
    hashes = [ids_hash("kept"), ids_hash("removed")]
    changed = library.add("travel.md", "v2")
    library.chunked(changed, "kept", "new")
    assert catalog.bury_orphans(TENANT, document.id, hashes) == []
    library.publish(changed, "kept", "new")
    assert catalog.bury_orphans(TENANT, document.id, hashes) == [wanted("removed").key]


def test_another_tenants_chunk_shares_nothing(catalog: Catalog, library: Library) -> None:
    mine = library.add("a.md")
    library.publish(mine, "text")
    library.publish(library.add("a.md", tenant="other"), "text")
    library.preread(mine, wanted("text"))
    catalog.begin_delete(TENANT, mine.id)
    assert catalog.bury_orphans("other", mine.id, [ids_hash("text")]) == []
    assert catalog.drop_readings("other", [wanted("text").key]) == 0
    assert catalog.bury_orphans(TENANT, mine.id, [ids_hash("text")]) == [wanted("text").key]


def test_more_hashes_than_a_statement_can_bear_are_looked_up(catalog: Catalog, library: Library) -> None:
    texts = [f"text {n}" for n in range(1201)]
    document = library.add("long.md")
    library.publish(document, *texts)
    catalog.claim(document.id, "worker", 60)
    catalog.want_readings(document.id, "worker", [wanted(text) for text in texts])
    hashes = [ids_hash(text) for text in texts]
    assert len(catalog.readings(TENANT, hashes)) == 1201
    catalog.begin_delete(TENANT, document.id)
    assert len(catalog.bury_orphans(TENANT, document.id, iter(hashes))) == 1201
    assert catalog.readings(TENANT, hashes) == []


def test_ready_readings_come_by_tenant_and_key_a_page_at_a_time(catalog: Catalog, library: Library) -> None:
    document, wanted_ones = library.add("a.md"), sorted((wanted(text) for text in "abcde"), key=lambda one: one.key)
    library.publish(document, *"abcde")
    library.preread(document, *wanted_ones[:4])
    catalog.claim(document.id, "worker", 60)
    catalog.want_readings(document.id, "worker", wanted_ones)
    shared = wanted("preamble")
    other = replace(shared, tenant="another")
    for reading in (shared, other):
        catalog.want_preamble(reading)
        catalog.reading_ready(reading.tenant, reading.key, 1, 1)
    expected = [("another", other.key), *sorted((TENANT, reading.key) for reading in (*wanted_ones[:4], shared))]
    found: list[tuple[str, str]] = []
    while page := catalog.ready_readings(found[-1] if found else ("", ""), 2):
        found += [(record.tenant, record.key) for record in page]
    assert found == expected


def test_readings_that_only_retired_versions_have_are_not_among_the_ready(catalog: Catalog, library: Library) -> None:
    gone, kept = library.add("gone.md"), library.add("kept.md")
    library.publish(gone, "own", "both")
    library.publish(kept, "both")
    library.preread(gone, wanted("own"), wanted("both"))
    catalog.begin_delete(TENANT, gone.id)
    assert [record.key for record in catalog.ready_readings()] == [wanted("both").key]


def test_a_lost_reading_is_wanted_anew_and_only_if_it_was_ready(catalog: Catalog, document: Document) -> None:
    ready, failed = wanted("text"), wanted("text", model="other model")
    catalog.want_readings(document.id, "worker", [ready, failed])
    catalog.reading_ready(TENANT, ready.key, 4, 100)
    catalog.reading_failed(TENANT, failed.key, "The engine died.")
    catalog.readings_lost(TENANT, [ready.key, failed.key], Gone.EXPIRED)
    records = {record.key: record for record in catalog.readings(TENANT, [ids_hash("text")])}
    lost = records[ready.key]
    assert (lost.state, lost.n_tokens, lost.bytes, lost.gone) == (ReadingState.WANTED, 0, 0, Gone.EXPIRED)
    assert (records[failed.key].state, records[failed.key].gone) == (ReadingState.FAILED, None)


def test_what_became_of_a_blob_is_kept_until_the_reading_is_ready_again(catalog: Catalog, document: Document) -> None:
    reading = wanted("text")

    def record() -> ReadingRecord:
        (found,) = catalog.readings(TENANT, [reading.ids_hash])
        return found

    catalog.want_readings(document.id, "worker", [reading])
    catalog.reading_ready(TENANT, reading.key, 4, 100)
    catalog.readings_lost(TENANT, [reading.key], Gone.CORRUPT)
    catalog.want_readings(document.id, "worker", [reading])
    assert record().gone is Gone.CORRUPT
    catalog.reading_failed(TENANT, reading.key, "Too many tokens.", "too_large")
    catalog.want_readings(document.id, "worker", [reading])
    assert (record().state, record().gone, record().error_code) == (ReadingState.WANTED, Gone.CORRUPT, "too_large")
    catalog.reading_ready(TENANT, reading.key, 4, 100, bytes_in_16_bits=550)
    ready = record()
    assert (ready.gone, ready.error_code, ready.bytes_in_16_bits) == (None, None, 550)


def test_what_was_ready_and_cannot_be_made_again_had_been_evicted(catalog: Catalog, document: Document) -> None:
    noted, unnoted, never = wanted("text"), wanted("text", model="other model"), wanted("text", model="third model")
    catalog.want_readings(document.id, "worker", [noted, unnoted, never])
    for reading in (noted, unnoted):
        catalog.reading_ready(TENANT, reading.key, 4, 100)
    catalog.note_gone((r, Gone.CORRUPT) for r in catalog.readings(TENANT, [ids_hash("text")]) if r.key == noted.key)
    for reading in (noted, unnoted, never):
        catalog.reading_failed(TENANT, reading.key, "The engine died.", "engine_failed")
    gone = {record.key: record.gone for record in catalog.readings(TENANT, [ids_hash("text")])}
    assert gone == {noted.key: Gone.CORRUPT, unnoted.key: Gone.EVICTED, never.key: None}


def test_a_note_that_comes_after_the_reading_was_made_again_is_none(
    catalog: Catalog, document: Document, clock: Clock
) -> None:
    reading = wanted("text")
    catalog.want_readings(document.id, "worker", [reading])
    catalog.reading_ready(TENANT, reading.key, 4, 100)
    (seen,) = catalog.readings(TENANT, [reading.ids_hash])
    clock.advance(1)
    catalog.reading_ready(TENANT, reading.key, 4, 100)
    catalog.note_gone([(seen, Gone.EVICTED)])
    (again,) = catalog.readings(TENANT, [reading.ids_hash])
    assert again.gone is None
    catalog.note_gone([(again, Gone.EVICTED)])
    catalog.note_gone([(again, Gone.CORRUPT)])
    assert [record.gone for record in catalog.readings(TENANT, [reading.ids_hash])] == [Gone.EVICTED]


def test_the_compression_ratio_is_of_what_is_ready_and_known(catalog: Catalog, document: Document) -> None:
    readings = [wanted("text", model=model) for model in ("a", "b", "c", "d")]
    catalog.want_readings(document.id, "worker", readings)
    assert catalog.kv_at_rest(TENANT).compression_ratio is None
    catalog.reading_ready(TENANT, readings[0].key, 4, 100, bytes_in_16_bits=500)
    catalog.reading_ready(TENANT, readings[1].key, 4, 300, bytes_in_16_bits=700)
    catalog.reading_ready(TENANT, readings[2].key, 4, 2**40)
    at_rest = catalog.kv_at_rest(TENANT)
    assert at_rest == KvAtRest(2**40 + 400, 400, 1200)
    assert at_rest.compression_ratio == 3
    assert catalog.kv_at_rest("other") == KvAtRest()
    assert catalog.reading_counts(TENANT) == {ReadingState.READY: 3, ReadingState.WANTED: 1}
    assert catalog.reading_counts("other") == {}
