"""The two readings of chunks: which are made, behind whose text, and when they are made anew."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from staging_engine import FINGERPRINT

from app.core.catalog import DocumentState, ReadingState
from generator.conditioning import PASSAGE_TOKENS, neutral_passage, number_passage
from generator.identity import chunk_identity
from generator.prompt import number_ids
from kvstore.key import Reading, ids_hash
from kvstore.store import Hit
from workers.deletion import delete_document
from workers.ingest import ingest
from workers.pieces import Pieces, wanted_reading
from workers.precompute import read_missed
from workers.preread import preread

TENANT = "default"
RULES = [f"Rule {n}: whoever travels to town {n} is paid {40 + n} euros a day for all meals there." for n in range(9)]
TRAVEL = "\n\n".join(RULES)
NOTHING = {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}


@pytest.fixture
def conditioned(context):
    """The same context under another conditioning."""

    def conditioned(conditioning, opening_readings="all"):
        update = {"conditioning": conditioning, "opening_readings": opening_readings}
        return replace(context, settings=context.settings.model_copy(update=update))

    return conditioned


@pytest.fixture
def travel(context, add):
    document = add("travel.md", TRAVEL)
    assert ingest(document.id, context)
    return document


def chunks_of(context, document):
    return context.catalog.chunks_of(context.catalog.get_document(TENANT, document.id).current_version_id)


def state(context, document):
    return context.catalog.get_document(TENANT, document.id).state


def read_again(context, document):
    read_missed(TENANT, [document.id], catalog=context.catalog, waker=context.waker)
    assert not preread(document.id, context)


def stored(context, chunk, reading):
    found = context.store.get(TENANT, chunk_identity(FINGERPRINT, context.preamble.ids, chunk.token_ids, reading))
    return found.blob.identity if isinstance(found, Hit) else None


def passages(context, chunk):
    """What the chunk was read behind, in order of time."""
    ids = tuple(chunk.token_ids)
    return [c.passage for c in context.engine.captures if (c.ids, c.reading) == (ids, Reading.CONDITIONED)]


def preceding(context, chunks, place):
    """The end of the text before a chunk, as a passage."""
    before = [token for chunk in chunks[:place] for token in chunk.token_ids]
    return (*before[-PASSAGE_TOKENS:], *number_ids(context.tokenizer, 2))


def neutral(context):
    return neutral_passage(context.tokenizer)


def test_every_chunk_is_read_behind_the_preamble_and_behind_the_neutral_passage(conditioned, travel):
    context = conditioned("neutral")
    assert not preread(travel.id, context)
    assert state(context, travel) is DocumentState.PREREAD
    chunks = chunks_of(context, travel)
    assert len(chunks) > 3
    for chunk in chunks:
        assert passages(context, chunk) == [neutral(context)]
        assert stored(context, chunk, Reading.OPENING).conditioning_hash == ""
        assert stored(context, chunk, Reading.CONDITIONED).conditioning_hash == ids_hash(neutral(context))
    records = context.catalog.readings(TENANT, [chunk.ids_hash for chunk in chunks])
    assert [record.state for record in records] == [ReadingState.READY] * 2 * len(chunks)


def test_the_neutral_passage_is_pre_read_once_for_all_chunks(conditioned, travel):
    context = conditioned("neutral")
    preread(travel.id, context)
    assert context.engine.captured.count(neutral(context)) == 1
    assert neutral(context) in [piece.token_ids for piece in Pieces(context, FINGERPRINT).fixed()]
    assert neutral(context) not in [p.token_ids for p in Pieces(conditioned("off"), FINGERPRINT).fixed()]


def test_the_numbers_before_passages_are_read_behind_theirs_too(conditioned, travel):
    context = conditioned("neutral")
    preread(travel.id, context)
    behind = {c.ids: c.passage for c in context.engine.captures if c.reading is Reading.CONDITIONED}
    for number in range(2, context.settings.top_k + 1):
        ids = tuple(number_ids(context.tokenizer, number))
        assert behind[ids] == number_passage(context.tokenizer, number).token_ids
        assert context.engine.captured.count(ids) == 2


def test_without_conditioning_every_chunk_has_its_opening_reading_alone(conditioned, travel):
    context = conditioned("off")
    preread(travel.id, context)
    assert {capture.reading for capture in context.engine.captures} == {Reading.OPENING}


def test_a_second_run_makes_neither_reading_again(conditioned, travel):
    context = conditioned("neutral")
    preread(travel.id, context)
    count = len(context.engine.captures)
    read_again(context, travel)
    assert len(context.engine.captures) == count


def test_an_evicted_conditioned_reading_alone_is_made_again(conditioned, travel):
    context = conditioned("neutral")
    preread(travel.id, context)
    victim = chunks_of(context, travel)[1]
    context.store.delete(TENANT, [stored(context, victim, Reading.CONDITIONED).key])
    context.engine.captures.clear()
    read_again(context, travel)
    assert [(c.ids, c.reading) for c in context.engine.captures] == [(tuple(victim.token_ids), Reading.CONDITIONED)]


def test_a_chunk_is_read_behind_its_own_documents_preceding_text_and_the_first_one_behind_the_neutral(
    conditioned, travel
):
    context = conditioned("document")
    preread(travel.id, context)
    chunks = chunks_of(context, travel)
    assert passages(context, chunks[0]) == [neutral(context)]
    for place in range(1, len(chunks)):
        assert passages(context, chunks[place]) == [preceding(context, chunks, place)]


def test_readings_behind_another_passage_than_is_set_now_are_made_again_and_forgotten_by_the_engine(
    conditioned, travel
):
    preread(travel.id, conditioned("neutral"))
    context = conditioned("document")
    context.engine.captures.clear()
    read_again(context, travel)
    chunks = chunks_of(context, travel)
    changed = chunks[1:]
    assert [capture.ids for capture in context.engine.captures] == [tuple(chunk.token_ids) for chunk in changed]
    keys = {stored(context, chunk, Reading.CONDITIONED).key for chunk in changed}
    assert keys == set(context.engine.purged)
    for place, chunk in enumerate(changed, start=1):
        expected = ids_hash(preceding(context, chunks, place))
        assert stored(context, chunk, Reading.CONDITIONED).conditioning_hash == expected


def test_a_stale_reading_that_a_crash_left_is_removed_before_it_is_made_again(conditioned, travel):
    class Killed(BaseException):
        pass

    def die(_):
        raise Killed

    preread(travel.id, conditioned("neutral"))
    context = conditioned("document")
    context.engine.before.append(die)
    with pytest.raises(Killed):
        read_again(context, travel)
    context.engine.before.clear()
    context.engine.purged.clear()
    assert not preread(travel.id, context)
    chunks = chunks_of(context, travel)
    assert {stored(context, chunk, Reading.CONDITIONED).key for chunk in chunks[1:]} == set(context.engine.purged)
    assert state(context, travel) is DocumentState.PREREAD


def test_a_deleted_document_leaves_neither_reading_in_store_or_engine(conditioned, travel, leftovers):
    context = conditioned("document")
    preread(travel.id, context)
    chunks = chunks_of(context, travel)
    keys = {stored(context, chunk, reading).key for chunk in chunks for reading in Reading}
    delete_document(TENANT, travel.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    assert set(context.engine.purged) == keys
    assert leftovers() == NOTHING


@pytest.fixture
def longer(context, add):
    """Ingests a second document that begins as the first one ends, and so shares chunks with it, but not what stands
    before them."""

    def longer():
        document = add("copy.md", TRAVEL + "\n\nOne rule more: whoever travels by night sleeps in the train.")
        assert ingest(document.id, context)
        return document

    return longer


def shared_chunks(context, *documents):
    hashes = [{chunk.ids_hash for chunk in chunks_of(context, document)} for document in documents]
    return [chunk for chunk in chunks_of(context, documents[0]) if chunk.ids_hash in set.intersection(*hashes)]


def test_a_chunk_that_a_second_document_shares_is_read_behind_the_text_of_neither(conditioned, travel, longer):
    context = conditioned("document")
    preread(travel.id, context)
    first = {chunk.ids_hash for chunk in chunks_of(context, travel)[:1]}
    other = longer()
    shared = [chunk for chunk in shared_chunks(context, travel, other) if chunk.ids_hash not in first]
    assert shared
    for chunk in shared:
        assert stored(context, chunk, Reading.CONDITIONED) is None, "removed before the second document answers"
        assert stored(context, chunk, Reading.OPENING) is not None
    preread(other.id, context)
    for chunk in shared:
        assert passages(context, chunk)[1:] == [neutral(context)]
        assert stored(context, chunk, Reading.CONDITIONED).conditioning_hash == ids_hash(neutral(context))
    count = len(context.engine.captures)
    read_again(context, travel)
    read_again(context, other)
    assert len(context.engine.captures) == count


def test_a_chunk_that_becomes_shared_while_it_is_read_is_taken_back(conditioned, travel, longer):
    context = conditioned("document")
    context = replace(context, settings=context.settings.model_copy(update={"readings_in_flight": 1}))
    second = chunks_of(context, travel)[1]
    others = []

    def share(ids):
        if ids == tuple(second.token_ids) and not others:
            others.append(longer())

    context.engine.before.append(share)
    preread(travel.id, context)
    assert passages(context, second)[0] == preceding(context, chunks_of(context, travel), 1)
    assert stored(context, second, Reading.CONDITIONED) is None
    preread(others[0].id, context)
    assert passages(context, second)[1:] == [neutral(context)]


def test_deleting_the_document_whose_text_came_before_a_shared_chunk_removes_that_reading(
    conditioned, travel, add, monkeypatch
):
    context = conditioned("document")
    preread(travel.id, context)
    # As if the second document had come in at the very moment.
    monkeypatch.setattr(context.catalog, "readings_behind_foreign_text", lambda *_: [])
    other = add("copy.md", TRAVEL + "\n\nOne rule more: whoever travels by night sleeps in the train.")
    ingest(other.id, context)
    monkeypatch.undo()
    shared = shared_chunks(context, other, travel)[1:]
    assert all(stored(context, chunk, Reading.CONDITIONED) for chunk in shared)
    delete_document(TENANT, travel.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    for chunk in shared:
        assert stored(context, chunk, Reading.CONDITIONED) is None
        assert stored(context, chunk, Reading.OPENING) is not None
    assert not preread(other.id, context)
    assert all(stored(context, chunk, Reading.CONDITIONED) for chunk in shared)


def test_a_new_version_with_other_text_before_a_chunk_has_it_read_again(conditioned, travel, add):
    context = conditioned("document")
    preread(travel.id, context)
    old = chunks_of(context, travel)
    assert ingest(add("travel.md", TRAVEL.replace("town 0", "the town")).id, context)
    new = chunks_of(context, travel)
    place = next(n for n, chunk in enumerate(new) if n and chunk.ids_hash == old[n].ids_hash)
    preread(travel.id, context)
    assert passages(context, new[place])[-1] == preceding(context, new, place)
    assert all(stored(context, chunk, reading) for chunk in new for reading in Reading)


def test_a_new_version_keeps_the_readings_of_chunks_that_the_same_text_comes_before(conditioned, travel, add):
    context = conditioned("document")
    preread(travel.id, context)
    old = chunks_of(context, travel)
    assert ingest(add("travel.md", TRAVEL + "\n\nOne rule more: whoever travels by night sleeps.").id, context)
    kept = [chunk for chunk in chunks_of(context, travel) if chunk.ids_hash in {chunk.ids_hash for chunk in old}]
    assert len(kept) > 2
    context.engine.captures.clear()
    preread(travel.id, context)
    assert not {tuple(chunk.token_ids) for chunk in kept} & {capture.ids for capture in context.engine.captures}
    delete_document(TENANT, travel.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    assert {stored(context, chunk, reading) for chunk in kept for reading in Reading} == {None}


def test_opening_readings_are_made_only_of_chunks_that_an_answer_had_in_first_place(conditioned, travel):
    context = conditioned("neutral", opening_readings="first")
    preread(travel.id, context)
    chunks = chunks_of(context, travel)
    assert [stored(context, chunk, Reading.OPENING) for chunk in chunks] == [None] * len(chunks)
    assert all(stored(context, chunk, Reading.CONDITIONED) for chunk in chunks)
    assert state(context, travel) is DocumentState.PREREAD
    wish = chunk_identity(FINGERPRINT, context.preamble.ids, chunks[1].token_ids, Reading.OPENING)
    assert context.catalog.wish_reading(wanted_reading(TENANT, wish))
    read_again(context, travel)
    assert [stored(context, chunk, Reading.OPENING) is not None for chunk in chunks] == [
        chunk.id == chunks[1].id for chunk in chunks
    ]
