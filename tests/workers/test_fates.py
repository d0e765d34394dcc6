"""What the catalog is told of chunk KV: its sizes, why it could not be made, what became of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from staging_engine import FINGERPRINT

from app.core.catalog import Gone, ReadingState
from generator.identity import chunk_identity
from kvstore.errors import TooLarge
from kvstore.key import Reading, compact_key
from kvstore.lookup import explain_miss
from kvstore.reasons import MissReason, StoreMiss
from kvstore.store import ChunkStore
from kvstore.tiers.base import Entry
from kvstore.tiers.disk import DiskTier
from kvstore.verification import Judgement, Verdict
from workers.ingest import ingest
from workers.missing import Fates
from workers.preread import preread

TENANT = "default"
BYTES_OF_A_TOKEN = 2 * 2 * 4 * 2  # layers, keys and values, head_dim, 16 bits
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def indexed(context, add):
    document = add("travel.md", "Whoever travels to town is paid 45 euros a day for meals.")
    assert ingest(document.id, context)
    return document


def readings(context, document):
    version = context.catalog.get_document(TENANT, document.id).current_version_id
    hashes = {chunk.ids_hash for chunk in context.catalog.chunks_of(version)}
    return [r for r in context.catalog.readings(TENANT, hashes) if r.reading == Reading.OPENING]


@pytest.mark.parametrize("preset", ["lossless", "int8"])
def test_the_catalog_knows_what_a_reading_takes_and_would_take_in_16_bits(context, indexed, preset):
    own = replace(context, settings=context.settings.model_copy(update={"kv_preset": preset}))
    preread(indexed.id, own)
    (reading,) = readings(context, indexed)
    (entry,) = (entry for entry in context.store._tiers[0].entries() if entry.key == reading.key)
    assert (reading.state, reading.bytes) == (ReadingState.READY, entry.nbytes)
    assert reading.bytes_in_16_bits == reading.n_tokens * BYTES_OF_A_TOKEN


def test_a_reading_that_no_tier_can_hold_is_too_large_until_one_can(context, indexed):
    class Small(DiskTier):
        def put(self, tenant, key, data, worth=None):
            raise TooLarge("This is more than the tier holds.")

    small = ChunkStore([Small(context.settings.effective_kv_dir, 10**6)])
    preread(indexed.id, replace(context, store=small))
    (reading,) = readings(context, indexed)
    assert (reading.state, reading.error_code) == (ReadingState.FAILED, "too_large")

    (chunk,) = context.catalog.chunks_of(context.catalog.get_document(TENANT, indexed.id).current_version_id)
    expected = chunk_identity(FINGERPRINT, context.preamble.ids, chunk.token_ids, Reading.OPENING)
    reason = explain_miss(StoreMiss.ABSENT, reading, [], expected=expected, now=NOW, life_seconds=None)
    assert reason is MissReason.TOO_LARGE

    context.catalog.retry(indexed.id)
    ingest(indexed.id, context)
    preread(indexed.id, context)
    (reading,) = readings(context, indexed)
    assert (reading.state, reading.error_code) == (ReadingState.READY, None)


def test_another_failure_is_not_too_large(context, indexed):
    (chunk,) = context.catalog.chunks_of(context.catalog.get_document(TENANT, indexed.id).current_version_id)
    context.engine.fails = {tuple(chunk.token_ids)}
    preread(indexed.id, context)
    (reading,) = readings(context, indexed)
    assert reading.state is ReadingState.FAILED
    assert reading.error_code not in (None, "too_large")


def test_what_was_removed_as_damaged_at_either_level_is_told_as_that(context, indexed):
    preread(indexed.id, context)
    (reading,) = readings(context, indexed)
    old = replace(reading, updated_at=NOW - timedelta(hours=1))

    def gone(key, verdict, tenant=TENANT, record=old):
        return Fates([Judgement(Entry(tenant, key, 1, None), verdict)], NOW, 60)(record)

    assert gone(reading.key, Verdict.CORRUPT) is Gone.CORRUPT
    assert gone(compact_key(reading.key), Verdict.STALE_PROFILE) is Gone.STALE_PROFILE
    assert gone(reading.key, Verdict.UNKNOWN) is Gone.EXPIRED
    assert gone(reading.key, Verdict.CORRUPT, tenant="other") is Gone.EXPIRED
    assert gone("0" * 64, Verdict.CORRUPT, record=replace(old, updated_at=NOW)) is Gone.EVICTED
    assert gone("0" * 64, Verdict.CORRUPT, record=replace(old, gone=Gone.CORRUPT)) is Gone.CORRUPT
