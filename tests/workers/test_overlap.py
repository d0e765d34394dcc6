"""Several readings under way at once: none is lost to another's end, and nothing is written after the claim's."""

from threading import Event
from threading import enumerate as enumerate_threads

import pytest
from waiting import wait_until

from app.core.catalog import DocumentState, ReadingState
from generator.errors import EngineUnavailable
from workers.ingest import ingest
from workers.preread import preread
from workers.time_limit import OutOfTime

TENANT = "default"
TRAVEL = "# Travel\n\n" + "\n\n".join(
    f"Rule {n}: whoever travels to town {n} is paid {40 + n} euros a day for meals." for n in range(8)
)


@pytest.fixture
def indexed(context, add):
    document = add("travel.md", TRAVEL)
    assert ingest(document.id, context)
    return document


@pytest.fixture
def chunks(context, indexed):
    version = context.catalog.get_document(TENANT, indexed.id).current_version_id
    return [tuple(chunk.token_ids) for chunk in context.catalog.chunks_of(version)]


def state(context, document):
    return context.catalog.get_document(TENANT, document.id).state


def readings(context, indexed):
    """The state of each chunk's reading, chunk by chunk."""
    version = context.catalog.get_document(TENANT, indexed.id).current_version_id
    hashes = [chunk.ids_hash for chunk in context.catalog.chunks_of(version)]
    found = {reading.ids_hash: reading.state for reading in context.catalog.readings(TENANT, hashes)}
    return [found[ids_hash] for ids_hash in hashes]


def staged(context):
    return list(context.settings.effective_staging_dir.iterdir())


def kv_files(context):
    return set(context.settings.effective_kv_dir.rglob("*.kv"))


def test_the_engine_has_the_next_chunk_before_the_last_one_is_done(context, indexed, chunks):
    next_begun = Event()

    def meet(ids):
        if ids == chunks[0]:
            assert next_begun.wait(30), "the second chunk was not begun beside the first"
        if ids == chunks[1]:
            next_begun.set()

    context.engine.before.append(meet)
    assert not preread(indexed.id, context)
    assert state(context, indexed) is DocumentState.PREREAD


def test_a_chunk_that_fails_loses_no_other(context, indexed, chunks):
    context.engine.fails |= {chunks[1], chunks[3]}
    assert not preread(indexed.id, context)
    failed = context.catalog.get_document(TENANT, indexed.id)
    assert failed.failure_message.startswith(f"2 of {len(chunks)} ")
    made = readings(context, indexed)
    assert [number for number, each in enumerate(made) if each is not ReadingState.READY] == [1, 3]
    assert made[1] is made[3] is ReadingState.FAILED


def test_what_is_read_already_is_kept_when_the_engine_goes_away(context, indexed, chunks):
    """Also what lands after another chunk has found the engine gone."""
    gone = Event()

    def go_away(ids):
        if ids == chunks[0]:
            assert gone.wait(30)
        if ids == chunks[1]:
            gone.set()
            raise EngineUnavailable("The engine does not answer.")

    context.engine.before.append(go_away)
    with pytest.raises(EngineUnavailable):
        preread(indexed.id, context)
    assert readings(context, indexed)[0] is ReadingState.READY
    assert state(context, indexed) is DocumentState.INDEXED
    assert not staged(context)
    context.engine.before.clear()
    assert not preread(indexed.id, context)
    assert context.engine.captured.count(chunks[0]) == 1


def test_a_task_that_is_out_of_time_writes_nothing_more_and_leaves_nothing_staged(context, indexed, chunks):
    """Though a prefill ends only afterwards; and it is not waited for."""
    begun, late = Event(), Event()

    def hang(ids):
        if ids == chunks[0]:
            begun.set()
            assert late.wait(60)

    def clock():
        if begun.wait(0.01):
            raise OutOfTime
        return 0.0

    context.engine.before.append(hang)
    with pytest.raises(OutOfTime):
        preread(indexed.id, context, clock=clock)
    assert context.catalog.get_document(TENANT, indexed.id).claim_owner is None
    written = kv_files(context)
    late.set()
    wait_until(lambda: "in-flight" not in {thread.name for thread in enumerate_threads()}, "the prefill has ended")
    assert kv_files(context) == written
    assert not staged(context)
    context.engine.before.clear()
    while preread(indexed.id, context):
        continue
    assert state(context, indexed) is DocumentState.PREREAD
    assert len(kv_files(context)) > len(written)
