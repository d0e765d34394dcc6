"""A deletion is complete at once, and what did not answer, or came too late, is removed afterwards."""

import logging
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mortal_redis import MortalRedis
from redis import Redis
from staging_engine import FINGERPRINT

from app.core.catalog import DocumentNotFound, DocumentState, WantedReading
from kvstore.blob import Blob
from kvstore.levels import at_all_levels
from kvstore.store import ChunkStore
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.redis import RedisTier
from workers.claim import claimed
from workers.deletion import delete_document
from workers.ingest import ingest
from workers.pieces import Pieces
from workers.preread import preread
from workers.purge import NotPurged
from workers.tombstones import IN_FLIGHT, KEPT, next_try, purge_again
from workers.upkeep import reconcile

TENANT = "default"
TRAVEL = "\n\n".join(f"Rule {n}: whoever travels to town {n} is paid {40 + n} euros a day for meals." for n in range(8))
NOTHING = {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}


class KeepingRedis(MortalRedis):
    """Comes back with what it had."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.client = Redis.from_url(self.url)

    def kill(self) -> None:
        self.client.save()
        super().kill()


@pytest.fixture
def redis():
    with tempfile.TemporaryDirectory(prefix="preread-") as folder:
        server = KeepingRedis(Path(folder))
        yield server
        MortalRedis.kill(server)
        server.client.close()


@pytest.fixture
def tiers(context, redis):
    """The same context over Redis and disk, with connections of its own: no tier is left alone after a failure."""

    def tiers(**settings):
        own = context.settings.model_copy(update={"kv_redis_url": redis.url, **settings})
        store = ChunkStore([RedisTier(redis.url, 600), DiskTier(own.effective_kv_dir, own.kv_disk_bytes)])
        return replace(context, settings=own, store=store, purge=replace(context.purge, store=store))

    return tiers


def later(delta=timedelta()):
    return datetime.now(UTC) + delta


def delete(context, document):
    return delete_document(TENANT, document.id, catalog=context.catalog, purge=context.purge, now=later())


def keys_of(context, document):
    """Of all its pieces, as they are wanted now."""
    found = context.catalog.get_document(TENANT, document.id)
    return [piece.identity.key for piece in Pieces(context, FINGERPRINT).of(found, found.current_version_id)]


def in_redis(redis, keys):
    return {key for key in at_all_levels(keys) if redis.client.exists(f"preread:kv:{TENANT}:{key}")}


def read(context, add, name="travel.md", text=TRAVEL):
    document = add(name, text)
    assert ingest(document.id, context)
    assert not preread(document.id, context)
    return document


def test_a_tier_that_was_down_is_emptied_when_it_is_back(tiers, redis, add, leftovers, caplog):
    document = read(tiers(kv_compact_preset="int8"), add)
    keys = keys_of(tiers(), document)
    assert len(in_redis(redis, keys)) == 2 * len(keys)
    redis.kill()
    assert delete(tiers(), document), "it is complete at once"
    with pytest.raises(DocumentNotFound):
        tiers().catalog.get_document(TENANT, document.id)
    assert leftovers() == NOTHING
    with caplog.at_level(logging.WARNING):
        caplog.clear()
        reconcile(tiers(), set(), later(IN_FLIGHT / 4))
    assert len(caplog.records) == 1, "one warning, whatever the number of keys"
    redis.start()
    assert len(in_redis(redis, keys)) == 2 * len(keys)
    reconcile(tiers(), set(), later(IN_FLIGHT / 2))
    assert in_redis(redis, keys) == set()
    assert len(tiers().catalog.standing_tombstones(TENANT, keys)) == len(keys), "a write may still be in flight"
    reconcile(tiers(), set(), later(IN_FLIGHT))
    assert tiers().catalog.standing_tombstones(TENANT, keys) == []


def test_a_tier_that_is_down_leaves_the_other_work_of_repair_undisturbed(tiers, redis, add):
    document, received = read(tiers(), add), add("new.md", "A new rule.")
    redis.kill()
    delete(tiers(), document)
    assert reconcile(tiers(), set(), later()) == 1
    assert ("ingest", received.id) in tiers().waker.woken


def test_text_added_again_waits_for_the_tier_that_is_down_and_is_read_when_it_is_back(tiers, redis, add):
    document = read(tiers(), add)
    keys = keys_of(tiers(), document)
    redis.kill()
    delete(tiers(), document)
    again = add("travel.md", TRAVEL)
    assert ingest(again.id, tiers())
    with pytest.raises(NotPurged):
        preread(again.id, tiers())
    assert tiers().catalog.get_document(TENANT, again.id).state is DocumentState.INDEXED
    assert len(tiers().catalog.standing_tombstones(TENANT, keys)) == len(keys)
    redis.start()
    count = len(tiers().engine.captured)
    assert not preread(again.id, tiers())
    assert len(tiers().engine.captured) == count + len(keys), "what the deletion left in Redis was not used"
    assert tiers().catalog.standing_tombstones(TENANT, keys) == []
    for moment in (later(), later(IN_FLIGHT)):
        reconcile(tiers(), set(), moment)
        assert tiers().store.contains(TENANT, keys) == set(keys), "the tombstones harm nothing that was made anew"


def test_an_engine_that_did_not_answer_is_asked_again_and_no_more_once_it_has(context, add):
    document = read(context, add)
    keys = keys_of(context, document)
    context.engine.up = False
    assert delete(context, document)
    assert context.engine.purged == []
    reconcile(context, set(), later(IN_FLIGHT / 4))
    assert {each.forgotten_at for each in context.catalog.standing_tombstones(TENANT, keys)} == {None}
    context.engine.up = True
    for moment in (later(IN_FLIGHT / 2), later(IN_FLIGHT)):
        assert len(context.catalog.standing_tombstones(TENANT, keys)) == len(keys)
        reconcile(context, set(), moment)
        assert sorted(context.engine.purged) == sorted(keys)
    assert context.catalog.standing_tombstones(TENANT, keys) == []


def test_what_a_worker_writes_after_it_lost_its_claim_is_refused(context, add, leftovers, monkeypatch):
    document = add("travel.md", TRAVEL)
    assert ingest(document.id, context)
    put = context.store.put

    def stopped_before(tenant, data, fence):
        """The worker is stopped here; meanwhile the document is deleted."""
        if context.engine.captured[-1] == third:
            delete(context, document)
        return put(tenant, data, fence)

    third = tuple(context.catalog.chunks_of(document.pending_version_id)[2].token_ids)
    monkeypatch.setattr(context.store, "put", stopped_before)
    assert not preread(document.id, context)
    reconcile(context, set(), later())
    assert leftovers() == NOTHING


class Killed(BaseException):
    pass


def orphaned(context, document, monkeypatch):
    """A worker is stopped within a write, the document deleted, and the worker killed once the write is done."""
    put = DiskTier.put

    def stopped_within(tier, *arguments):
        if len(context.engine.captured) > 6:
            monkeypatch.setattr(DiskTier, "put", put)
            delete(context, document)
            put(tier, *arguments)
            raise Killed
        put(tier, *arguments)

    monkeypatch.setattr(DiskTier, "put", stopped_within)
    with pytest.raises(Killed):
        preread(document.id, context)


def test_what_a_killed_worker_left_after_the_deletion_is_removed(context, add, leftovers, monkeypatch):
    document = add("travel.md", TRAVEL)
    assert ingest(document.id, context)
    orphaned(context, document, monkeypatch)
    assert leftovers()["kv"] == 1
    reconcile(context, set(), later())
    assert leftovers() == NOTHING


def test_what_a_late_write_leaves_of_another_passage_under_a_key_made_anew_is_removed(context, add):
    context = replace(context, settings=context.settings.model_copy(update={"conditioning": "document"}))
    tier = DiskTier(context.settings.effective_kv_dir, context.settings.kv_disk_bytes)
    old = read(context, add, text=f"This stands before everything.\n\n{TRAVEL}")
    forbidden = {entry.key: tier.peek(TENANT, entry.key) for entry in tier.entries()}
    delete(context, old)
    new = read(context, add, text=f"Something else stands before everything here.\n\n{TRAVEL}")
    made = {entry.key: tier.peek(TENANT, entry.key) for entry in tier.entries()}
    (key, *_) = [k for k in keys_of(context, new) if k in forbidden and header(forbidden[k]) != header(made[k])]
    tier.put(TENANT, key, forbidden[key])
    reconcile(context, set(), later())
    assert {entry.key for entry in tier.entries()} == made.keys() - {key}
    reconcile(context, set(), later(IN_FLIGHT))
    assert context.catalog.tombstones_of(TENANT, old.id)[-1].purged_at


def header(data):
    return Blob.parse(data).identity.conditioning_hash


def test_a_deletion_reaches_every_model_and_preamble_that_the_chunks_were_ever_read_with(context, add):
    document, kept = read(context, add), read(context, add, "kept.md", "Vans are washed on Fridays, by their drivers.")
    catalog, tier = context.catalog, DiskTier(context.settings.effective_kv_dir, context.settings.kv_disk_bytes)
    older = {}
    for each in (document, kept):
        chunks = catalog.chunks_of(catalog.get_document(TENANT, each.id).current_version_id)
        older[each.id] = [f"{n:x}{chunk.ids_hash[1:]}" for chunk in chunks for n in range(3)]
        wanted = [
            WantedReading(TENANT, f"{n:x}{chunk.ids_hash[1:]}", chunk.ids_hash, f"{n}" * 64, f"{n + 1}" * 64, "opening")
            for chunk in chunks
            for n in range(3)
        ]
        catalog.request_preread(TENANT, [each.id])
        with claimed(catalog, each.id, 60) as claim:
            catalog.want_readings(each.id, claim.owner, wanted)
        for reading in wanted:
            tier.put(TENANT, reading.key, b"a blob of another time")
            assert catalog.reading_ready(TENANT, reading.key, 1, 1)
    delete(context, document)
    assert tier.contains(TENANT, older[document.id]) == set()
    assert tier.contains(TENANT, older[kept.id]) == set(older[kept.id])


def test_tombstones_are_worked_off_in_batches_and_dropped_in_the_end(context, add, monkeypatch):
    document = read(context, add)
    keys = keys_of(context, document)
    delete(context, document)
    monkeypatch.setattr("workers.tombstones._BATCH", 2)
    end = later(IN_FLIGHT)
    for left in range(len(keys), 0, -2):
        assert len(context.catalog.standing_tombstones(TENANT, keys)) == left
        purge_again(context, end)
    assert context.catalog.standing_tombstones(TENANT, keys) == []
    assert len(context.catalog.tombstones_of(TENANT, document.id)) == 1 + len(keys)
    purge_again(context, end + KEPT + timedelta(seconds=1))
    assert context.catalog.tombstones_of(TENANT, document.id) == []


def test_tries_come_ever_later_and_one_when_nothing_can_be_in_flight_any_more():
    deleted_at = datetime(2026, 3, 1, tzinfo=UTC)
    moment, tries = deleted_at + timedelta(seconds=20), 0
    while moment < deleted_at + IN_FLIGHT:
        following = next_try(deleted_at, moment)
        assert moment < following <= deleted_at + IN_FLIGHT
        moment, tries = following, tries + 1
    assert tries < 10
