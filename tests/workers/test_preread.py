from dataclasses import replace
from datetime import UTC, datetime

import pytest
import torch
from staging_engine import FINGERPRINT

from app.core.catalog import DocumentState, ReadingState
from generator.errors import EngineUnavailable
from generator.identity import chunk_identity, piece_identity
from generator.prompt import fixed_pieces
from kvstore.codecs.codecs import LOSSLESS, PLAIN
from kvstore.key import Reading, compact_key
from kvstore.levels import Level, at_level
from kvstore.store import Hit
from workers.deletion import delete_document
from workers.ingest import ingest
from workers.precompute import forget, read_missed
from workers.preread import preread
from workers.upkeep import reconcile

TENANT = "default"
TRAVEL = "# Travel\n\n" + "\n\n".join(
    f"Rule {n}: whoever travels to town {n} is paid {40 + n} euros a day for meals." for n in range(8)
)


@pytest.fixture
def indexed(context, add):
    document = add("travel.md", TRAVEL)
    assert ingest(document.id, context)
    return document


def state(context, document):
    return context.catalog.get_document(TENANT, document.id).state


def chunks_of(context, document):
    return context.catalog.chunks_of(context.catalog.get_document(TENANT, document.id).current_version_id)


def fixed(context):
    """The preamble and the numbers before passages: pre-read once for all documents."""
    return [tuple(ids) for ids in fixed_pieces(context.tokenizer, context.preamble, context.settings.top_k)]


def stored(context, document):
    found = [
        context.store.get(TENANT, chunk_identity(FINGERPRINT, context.preamble.ids, chunk.token_ids, Reading.OPENING))
        for chunk in chunks_of(context, document)
    ]
    return [hit for hit in found if isinstance(hit, Hit)]


def test_every_chunk_and_the_preamble_are_pre_read_behind_the_preamble(context, indexed):
    assert not preread(indexed.id, context)
    assert state(context, indexed) is DocumentState.PREREAD
    chunks = chunks_of(context, indexed)
    assert context.engine.captured == [*fixed(context), *(tuple(chunk.token_ids) for chunk in chunks)]
    hits = stored(context, indexed)
    assert len(hits) == len(chunks) > 3
    assert hits[0].blob.decode(LOSSLESS).keys[0].dtype is torch.bfloat16
    assert context.catalog.kv_at_rest(TENANT).bytes >= sum(len(hit.blob.data) for hit in hits)
    assert not list(context.settings.effective_staging_dir.iterdir())


def test_a_second_run_reads_nothing_again(context, indexed):
    preread(indexed.id, context)
    count = len(context.engine.captured)
    assert read_missed(TENANT, [indexed.id], catalog=context.catalog, waker=context.waker) == 1
    assert context.waker.woken == [("missed", indexed.id)]
    assert state(context, indexed) is DocumentState.INDEXED
    assert not preread(indexed.id, context)
    assert state(context, indexed) is DocumentState.PREREAD
    assert len(context.engine.captured) == count


def test_reading_again_makes_all_of_it_anew(context, indexed):
    preread(indexed.id, context)
    forget(TENANT, indexed.id, catalog=context.catalog, purge=context.purge)
    context.catalog.request_preread(TENANT, [indexed.id])
    assert stored(context, indexed) == []
    preread(indexed.id, context)
    assert len(stored(context, indexed)) == len(chunks_of(context, indexed))
    assert len(context.engine.captured) == len(fixed(context)) + 2 * len(chunks_of(context, indexed))


def test_a_slice_ends_in_time_and_the_next_one_goes_on(context, indexed):
    moments = iter(range(1000))
    assert preread(indexed.id, context, slice_seconds=2.5, clock=lambda: next(moments))
    assert state(context, indexed) is DocumentState.INDEXED
    assert context.catalog.get_document(TENANT, indexed.id).claim_owner is None
    done = list(context.engine.captured)
    while preread(indexed.id, context, slice_seconds=2.5, clock=lambda: next(moments)):
        pass
    assert state(context, indexed) is DocumentState.PREREAD
    assert 1 < len(done) < len(context.engine.captured) == len(fixed(context)) + len(chunks_of(context, indexed))


def test_a_slice_that_has_no_time_makes_one_reading_all_the_same(context, indexed):
    slices = 1
    while preread(indexed.id, context, slice_seconds=0, clock=lambda: 0.0):
        slices += 1
    assert state(context, indexed) is DocumentState.PREREAD
    assert slices == len(chunks_of(context, indexed))


def test_a_run_that_dies_in_the_middle_is_taken_up_where_it_stopped(context, indexed, one_at_a_time):
    class Killed(BaseException):
        pass

    third = tuple(chunks_of(context, indexed)[2].token_ids)

    def die(ids):
        if ids == third:
            raise Killed

    context.engine.before.append(die)
    with pytest.raises(Killed):
        preread(indexed.id, one_at_a_time)
    context.engine.before.clear()
    preread(indexed.id, one_at_a_time)
    assert len(context.engine.captured) == len(fixed(context)) + len(chunks_of(context, indexed))


def test_an_evicted_blob_is_made_again(context, indexed):
    preread(indexed.id, context)
    victim = stored(context, indexed)[1].blob.identity
    context.store.delete(TENANT, [victim.key])
    read_missed(TENANT, [indexed.id], catalog=context.catalog, waker=context.waker)
    preread(indexed.id, context)
    assert isinstance(context.store.get(TENANT, victim), Hit)


def test_an_engine_that_is_away_leaves_the_document_waiting(context, indexed):
    context.engine.up = False
    with pytest.raises(EngineUnavailable):
        preread(indexed.id, context)
    assert state(context, indexed) is DocumentState.INDEXED
    assert context.catalog.get_document(TENANT, indexed.id).claim_owner is None


def test_an_engine_that_cannot_fuse_is_asked_for_nothing(context, indexed):
    context.engine.fusion = False
    assert not preread(indexed.id, context)
    assert context.engine.captured == []
    assert state(context, indexed) is DocumentState.INDEXED


def test_a_chunk_that_cannot_be_captured_fails_with_the_reason_and_can_be_retried(context, indexed):
    bad = chunks_of(context, indexed)[1]
    context.engine.fails.add(tuple(bad.token_ids))
    preread(indexed.id, context)
    failed = context.catalog.get_document(TENANT, indexed.id)
    assert (failed.state, failed.failure_code) == (DocumentState.FAILED, "preread_failed")
    assert len(stored(context, indexed)) == len(chunks_of(context, indexed)) - 1
    assert {r.state for r in context.catalog.readings(TENANT, [bad.ids_hash])} == {ReadingState.FAILED}
    context.engine.fails.clear()
    context.catalog.retry(indexed.id)
    assert ingest(indexed.id, context)
    preread(indexed.id, context)
    assert state(context, indexed) is DocumentState.PREREAD


def test_a_document_deleted_while_it_is_pre_read_leaves_nothing(context, indexed, leftovers):
    third = tuple(chunks_of(context, indexed)[2].token_ids)

    def delete(ids):
        if ids == third:
            delete_document(TENANT, indexed.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))

    context.engine.before.append(delete)
    assert not preread(indexed.id, context)
    reconcile(context, set(), datetime.now(UTC))
    assert leftovers() == {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}


def test_deleting_a_document_keeps_the_kv_that_another_shares(context, indexed, add, leftovers):
    other = add("copy.md", TRAVEL + "\n\nOne rule more: whoever travels by night sleeps in the train.")
    ingest(other.id, context)
    preread(indexed.id, context)
    preread(other.id, context)
    delete_document(TENANT, indexed.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    assert len(stored(context, other)) == len(chunks_of(context, other))
    assert leftovers()["kv"] == len({chunk.ids_hash for chunk in chunks_of(context, other)})
    delete_document(TENANT, other.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    assert leftovers() == {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}


@pytest.fixture
def two_levels(context):
    return replace(context, settings=context.settings.model_copy(update={"kv_compact_preset": "int8"}))


def test_chunks_are_stored_a_second_time_in_the_compact_preset_where_one_is_set(two_levels, indexed):
    preread(indexed.id, two_levels)
    hot = stored(two_levels, indexed)
    compact = [two_levels.store.get(TENANT, at_level(hit.blob.identity, Level.COMPACT)) for hit in hot]
    assert len(hot) == len(compact) > 3
    assert {(hit.blob.codec_id, small.blob.codec_id) for small, hit in zip(compact, hot, strict=True)} == {
        (PLAIN["lossless"].id, PLAIN["int8"].id)
    }
    lone = two_levels.preamble.ids, *fixed(two_levels)
    keys = [piece_identity(FINGERPRINT, two_levels.preamble.ids, ids, Reading.OPENING).key for ids in lone]
    assert not two_levels.store.sizes(TENANT, map(compact_key, keys)), "what all prompts share is kept exactly"


def test_a_deleted_document_leaves_no_level_behind(two_levels, context, indexed, leftovers):
    preread(indexed.id, two_levels)
    assert leftovers()["kv"] == 2 * len({chunk.ids_hash for chunk in chunks_of(context, indexed)})
    delete_document(TENANT, indexed.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    assert leftovers() == {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}


def test_a_document_deleted_while_it_is_pre_read_leaves_no_level_behind(two_levels, context, indexed, leftovers):
    third = tuple(chunks_of(context, indexed)[2].token_ids)

    def delete(ids):
        if ids == third:
            delete_document(TENANT, indexed.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))

    context.engine.before.append(delete)
    assert not preread(indexed.id, two_levels)
    assert leftovers()["kv"] == 0


def test_deleted_kv_is_forgotten_by_the_engine_too(context, indexed):
    preread(indexed.id, context)
    keys = {hit.blob.identity.key for hit in stored(context, indexed)}
    delete_document(TENANT, indexed.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    assert set(context.engine.purged) == keys


def test_a_number_that_cannot_be_captured_stops_no_document(context, indexed):
    context.engine.fails.add(fixed(context)[1])
    preread(indexed.id, context)
    assert state(context, indexed) is DocumentState.PREREAD


def test_a_chunk_that_another_worker_read_at_the_same_moment_is_no_failure(context, indexed):
    chunk = chunks_of(context, indexed)[0]
    identity = chunk_identity(FINGERPRINT, context.preamble.ids, chunk.token_ids, Reading.OPENING)

    def other_worker(ids):
        if ids == tuple(chunk.token_ids):
            context.engine.before.clear()
            context.reader.read(TENANT, chunk.token_ids, identity)
            context.engine.loses.add(ids)

    context.engine.before.append(other_worker)
    preread(indexed.id, context)
    assert state(context, indexed) is DocumentState.PREREAD


def test_a_capture_that_went_missing_before_it_was_stored_is_made_once_more(context, indexed):
    """As where two workers read a chunk that two documents share, and one removes the other's capture."""
    chunk = tuple(chunks_of(context, indexed)[0].token_ids)
    asked = []

    def lose_the_first(ids):
        if ids == chunk:
            asked.append(ids)
            context.engine.loses = {chunk} if len(asked) == 1 else set()

    context.engine.before.append(lose_the_first)
    assert not preread(indexed.id, context)
    assert state(context, indexed) is DocumentState.PREREAD
    assert len(asked) == 2
    assert len(stored(context, indexed)) == len(chunks_of(context, indexed))
