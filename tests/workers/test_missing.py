"""What real pre-reading leaves is known and all there; what is lost is found and made again."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest
from staging_engine import FINGERPRINT

from app.core.catalog import DocumentState, ReadingState
from kvstore.tiers.disk import DiskTier
from kvstore.verification import YOUNG_SECONDS, Judge, Verdict, examine, remove
from workers.deletion import delete_document
from workers.ingest import ingest
from workers.missing import Fates, is_known, make_again, missing_readings
from workers.pieces import Pieces
from workers.preread import preread

TENANT = "default"
TRAVEL = "# Travel\n\n" + "\n\n".join(f"Whoever travels to town {n} is paid {40 + n} euros a day." for n in range(9))
EVICTED = Fates([], datetime.now(UTC), None)
SHARED = TRAVEL + "\n\nWhoever travels by night sleeps in the train, and is paid nothing for it but the ticket."


@pytest.fixture
def tier(context):
    return DiskTier(context.settings.effective_kv_dir, context.settings.kv_disk_bytes)


@pytest.fixture
def judge(context):
    """Everything is older than an hour."""
    in_an_hour = datetime.now(UTC).timestamp() + 2 * YOUNG_SECONDS
    return Judge(context.codecs, partial(is_known, context.catalog), lambda: in_an_hour)


@pytest.fixture
def read(context, add):
    """A document ingested and pre-read."""

    def read(name, text, context=context):
        document = add(name, text)
        assert ingest(document.id, context)
        assert not preread(document.id, context)
        return document

    return read


def missing(context, tier):
    return [reading for readings in missing_readings(context.catalog, [tier]) for reading in readings]


def state(context, document):
    return context.catalog.get_document(TENANT, document.id).state


def delete(context, document):
    delete_document(TENANT, document.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))


def hashes_of(context, document):
    version = context.catalog.get_document(TENANT, document.id).current_version_id
    return {chunk.ids_hash for chunk in context.catalog.chunks_of(version)}


@pytest.mark.parametrize("conditioning", ["off", "neutral", "document"])
@pytest.mark.parametrize("compact", ["", "int8"])
def test_after_real_pre_reading_nothing_is_amiss(context, tier, judge, read, conditioning, compact):
    update = {"conditioning": conditioning, "kv_compact_preset": compact}
    own = replace(context, settings=context.settings.model_copy(update=update))
    read("travel.md", TRAVEL, own)
    read("shared.md", SHARED, own)
    found = examine(tier, judge)
    assert found.amiss == ()
    fixed = {piece.identity.key for piece in Pieces(own, FINGERPRINT).fixed()}
    keys = {entry.key for entry in tier.entries()}
    assert fixed <= keys, "what all prompts share was scanned too"
    assert found.verdicts[Verdict.WHOLE] == len(keys) > len(fixed) + 5
    assert missing(own, tier) == []


def test_what_earlier_settings_left_of_what_prompts_share_stays_known(context, tier, judge, read):
    neutral = replace(context, settings=context.settings.model_copy(update={"conditioning": "neutral"}))
    read("travel.md", TRAVEL, neutral)
    fewer = replace(context, settings=context.settings.model_copy(update={"conditioning": "off", "top_k": 1}))
    read("other.md", "Another document.", fewer)
    assert examine(tier, judge).amiss == ()
    assert missing(context, tier) == []


def test_what_a_deletion_should_have_removed_is_unknown_and_removed(context, tier, judge, read):
    gone, kept = read("travel.md", TRAVEL), read("kept.md", "Vans are washed on Fridays.")
    blobs = [(entry.key, tier.peek(TENANT, entry.key)) for entry in tier.entries()]
    delete(context, gone)
    for key, data in blobs:
        tier.put(TENANT, key, data)
    found = examine(tier, judge)
    assert {judgement.verdict for judgement in found.amiss} == {Verdict.UNKNOWN}
    assert remove(tier, judge, found.amiss) == len(found.amiss) > 3
    assert examine(tier, judge).amiss == ()
    assert missing(context, tier) == []
    assert state(context, kept) is DocumentState.PREREAD


def test_what_no_tier_has_is_missing_and_is_made_again(context, tier, read):
    travel, other = read("travel.md", TRAVEL), read("other.md", "Vans are washed on Fridays.")
    chosen = hashes_of(context, travel)
    lost = [reading.key for reading in context.catalog.readings(TENANT, chosen)][:2]
    for key in lost:
        tier.delete(TENANT, key)
    found = missing(context, tier)
    assert [reading.key for reading in found] == sorted(lost)
    assert make_again(context.catalog, found, EVICTED) == {travel.id}
    assert (state(context, travel), state(context, other)) == (DocumentState.INDEXED, DocumentState.PREREAD)
    wanted = {r.key for r in context.catalog.readings(TENANT, chosen) if r.state is ReadingState.WANTED}
    assert wanted == set(lost)
    assert missing(context, tier) == [], "what is queued is not ready"
    assert not preread(travel.id, context)
    assert tier.contains(TENANT, lost) == set(lost)
    assert {r.state for r in context.catalog.readings(TENANT, chosen)} == {ReadingState.READY}


def test_what_all_prompts_share_is_made_again_with_any_document(context, tier, read):
    travel = read("travel.md", TRAVEL)
    preamble, *_ = (piece.identity.key for piece in Pieces(context, FINGERPRINT).fixed())
    tier.delete(TENANT, preamble)
    found = missing(context, tier)
    assert [reading.key for reading in found] == [preamble]
    assert make_again(context.catalog, found, EVICTED) == {travel.id}
    assert not preread(travel.id, context)
    assert tier.contains(TENANT, [preamble]) == {preamble}


def test_where_everything_is_lost_it_is_told_once(context, tier, read):
    read("travel.md", TRAVEL)
    keys = [entry.key for entry in tier.entries()]
    for key in keys:
        tier.delete(TENANT, key)
    found = missing(context, tier)
    assert {reading.key for reading in found} == set(keys)
    make_again(context.catalog, found, EVICTED)
    assert missing(context, tier) == []


def test_one_level_is_enough(context, tier, read):
    own = replace(context, settings=context.settings.model_copy(update={"kv_compact_preset": "int8"}))
    document = read("travel.md", TRAVEL, own)
    for reading in context.catalog.readings(TENANT, hashes_of(context, document)):
        tier.delete(TENANT, reading.key)
    assert missing(context, tier) == []


def test_a_document_that_is_being_deleted_misses_nothing(context, tier, read, monkeypatch):
    document = read("travel.md", TRAVEL)

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    monkeypatch.setattr(context.catalog, "bury_document", killed)
    with pytest.raises(Killed):
        delete(context, document)
    assert state(context, document) is DocumentState.DELETING
    assert missing(context, tier) == []


def test_what_is_deleted_while_the_tiers_are_asked_is_not_missing(context, tier, read):
    document = read("travel.md", TRAVEL)

    class Deleting(DiskTier):
        def contains(self, tenant, keys):
            delete(context, document)
            return super().contains(tenant, keys)

    during = Deleting(context.settings.effective_kv_dir, context.settings.kv_disk_bytes)
    assert missing(context, during) == []


def test_pages_end_and_miss_nothing(context, tier, read, monkeypatch):
    read("travel.md", TRAVEL)
    keys = sorted(entry.key for entry in tier.entries())
    for key in keys:
        tier.delete(TENANT, key)
    by_page = context.catalog.ready_readings
    monkeypatch.setattr(context.catalog, "ready_readings", lambda after, limit=3: by_page(after, limit))
    assert [reading.key for reading in missing(context, tier)] == keys
