"""Questions where chunks have two readings: which are looked for, found, and wished for."""

import asyncio
from dataclasses import replace

import pytest
import torch
from scripted_engine import FINGERPRINT
from web_harness import TENANT

from app.core.access import Principal, Role
from app.core.catalog import ReadingState
from app.web.lookups import Lookups
from app.web.preparing import CacheIncomplete, Preparing
from app.web.schemas.ask import AskRequest
from generator.fusion_request import SegmentKind
from generator.identity import chunk_identity
from generator.report import ChunkOutcome, FusionReport
from kvstore.blob import encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS
from kvstore.key import Reading
from kvstore.reasons import MissReason
from workers.pieces import wanted_reading

QUESTION = "How many days of annual leave does everybody have, and what is the travel meal allowance?"
ASKER = Principal("key_1", "a key", TENANT, Role.READER, Role.READER.permissions)
FIRST, LATER = (Reading.OPENING, Reading.CONDITIONED), (Reading.CONDITIONED,)


@pytest.fixture
def asking(web):
    """Prepares questions, and explains what became of them, under other settings than the server's."""

    def asking(**settings):
        update = {"conditioning": "neutral", "min_score": -1.0, **settings}
        # No gate result ships for the scripted engine's model.
        settings = web.services.settings.model_copy(update=update)
        services = replace(web.services, settings=settings, fingerprint=FINGERPRINT)
        lookups = Lookups(services)
        return Preparing(services, lookups), lookups

    return asking


@pytest.fixture
def store(web):
    """Puts made-up KV of a passage into the store, for the time of the test."""
    services, keys = web.services, []

    def store(passage, reading):
        passage_ids = (7, 8) if reading is Reading.CONDITIONED else ()
        identity = chunk_identity(FINGERPRINT, services.preamble.ids, passage.token_ids, reading, passage_ids)
        layers = tuple(torch.zeros(len(passage.token_ids), 1, 4, dtype=torch.bfloat16) for _ in range(2))
        services.store.put(services.settings.tenant, encode_blob(ChunkKV(layers, layers), identity, LOSSLESS))
        keys.append(identity.key)

    yield store
    catalog, tenant = services.catalog, services.settings.tenant
    catalog.revive(catalog.standing_tombstones(tenant, keys))
    services.store.delete(tenant, keys)
    catalog.drop_readings(tenant, keys)


def prepare(preparing, **fields):
    return asyncio.run(preparing.prepare(AskRequest(question=QUESTION, **fields), ASKER))


def readings(asked):
    return [s.readings for s in asked.generation.request.segments if s.kind is SegmentKind.CHUNK]


def explain(lookups, asked, *outcomes):
    report = FusionReport(asked.request_id, "none", 100, chunks=outcomes)

    async def account():
        generation = asked.generation
        found = await lookups.account(
            TENANT,
            report,
            generation.fingerprint,
            asked.passages,
            generation.conditioned,
            len(generation.token_ids),
        )
        await lookups.drain()
        return found

    return asyncio.run(account())


def test_conditioned_readings_are_looked_for_and_an_opening_one_in_first_place(asking):
    preparing, _ = asking()
    assert readings(prepare(preparing, policy="none")) == [FIRST, LATER]


@pytest.mark.parametrize(("conditioning", "policy"), [("neutral", "alone:none"), ("off", "none"), ("auto", "none")])
def test_opening_readings_alone_are_looked_for_when_asked_to_or_without_conditioning(asking, conditioning, policy):
    preparing, _ = asking(conditioning=conditioning)
    assert readings(prepare(preparing, policy=policy)) == [(Reading.OPENING,)] * 2


def test_cache_only_wants_of_each_passage_a_reading_that_serves_its_place(asking, store):
    preparing, _ = asking()
    first, second = prepare(preparing, policy="none").passages
    store(first, Reading.CONDITIONED)
    store(second, Reading.OPENING)
    with pytest.raises(CacheIncomplete, match="1 of 2"):
        prepare(preparing, policy="none", cache="only")
    store(second, Reading.CONDITIONED)
    assert prepare(preparing, policy="none", cache="only").generation is not None


def test_a_passage_with_an_opening_reading_comes_first_within_the_margin(asking, store):
    preparing, _ = asking(first_place_margin=2.0)
    best, other = prepare(preparing, policy="none").passages
    store(other, Reading.OPENING)
    asked = prepare(preparing, policy="none")
    assert [(p.n, p.chunk_id) for p in asked.passages] == [(1, other.chunk_id), (2, best.chunk_id)]
    for unmoved in (asking(first_place_margin=0.0), asking(first_place_margin=2.0, conditioning="off")):
        assert [p.chunk_id for p in prepare(unmoved[0], policy="none").passages] == [best.chunk_id, other.chunk_id]


def test_a_hit_is_a_hit_whichever_reading_and_a_better_one_is_wished_for(asking, web, store):
    preparing, lookups = asking()
    asked = prepare(preparing, policy="none")
    first, second = asked.passages
    found = explain(
        lookups, asked,
        ChunkOutcome(0, len(first.token_ids), "disk", reading="conditioned"),
        ChunkOutcome(1, len(second.token_ids), "disk", reading="conditioned"),
    )  # fmt: skip
    assert [(lookup.tier, lookup.reason) for lookup in found] == [("disk", None)] * 2
    wished = chunk_identity(FINGERPRINT, web.services.preamble.ids, first.token_ids, Reading.OPENING)
    tenant = web.services.settings.tenant
    records = web.services.catalog.readings(tenant, [wished.ids_hash])
    assert [(record.key, record.state) for record in records] == [(wished.key, ReadingState.WANTED)]
    web.services.catalog.drop_readings(tenant, [wished.key])


def test_a_first_chunk_served_by_its_opening_reading_leaves_nothing_to_wish_for(asking, web):
    preparing, lookups = asking()
    asked = prepare(preparing, policy="none")
    found = explain(
        lookups, asked,
        ChunkOutcome(0, 5, "disk", reading="opening"), ChunkOutcome(1, 5, "memory", reading="conditioned"),
    )  # fmt: skip
    assert [lookup.better for lookup in found] == [None, None]


@pytest.mark.parametrize("served", ["opening", "conditioned"])
def test_what_the_catalog_knows_of_a_hit_is_of_the_reading_that_served(asking, web, served):
    preparing, lookups = asking()
    asked = prepare(preparing, policy="none")
    first, catalog, tenant = asked.passages[0], web.services.catalog, web.services.settings.tenant
    both = [chunk_identity(FINGERPRINT, web.services.preamble.ids, first.token_ids, reading) for reading in Reading]
    assert all(catalog.wish_reading(wanted_reading(tenant, identity)) for identity in both)
    found = explain(lookups, asked, ChunkOutcome(0, 5, "disk", reading=served), ChunkOutcome(1, 5, None, "absent"))
    assert found[0].record.reading == served
    catalog.drop_readings(tenant, [identity.key for identity in both])


def test_a_conditioned_reading_that_was_removed_for_its_passage_is_a_stale_miss(asking, web, store):
    preparing, lookups = asking()
    asked = prepare(preparing, policy="none")
    second = asked.passages[1]
    store(second, Reading.CONDITIONED)
    identity = chunk_identity(FINGERPRINT, web.services.preamble.ids, second.token_ids, Reading.CONDITIONED)
    catalog, tenant = web.services.catalog, web.services.settings.tenant
    assert catalog.wish_reading(wanted_reading(tenant, identity))
    catalog.mark_stale(tenant, [identity.key])
    found = explain(
        lookups, asked, ChunkOutcome(0, 5, "disk", reading="opening"), ChunkOutcome(1, 5, None, "absent")
    )
    assert (found[1].tier, found[1].reason) == (None, MissReason.STALE_PASSAGE)


def test_a_reading_that_a_deletion_wanted_gone_is_withheld_while_its_blob_may_still_be_there(asking, web, store):
    preparing, _ = asking()
    first, second = prepare(preparing, policy="none").passages
    for passage in (first, second):
        store(passage, Reading.CONDITIONED)
    assert prepare(preparing, policy="none", cache="only").generation is not None
    identity = chunk_identity(FINGERPRINT, web.services.preamble.ids, second.token_ids, Reading.CONDITIONED)
    catalog, tenant = web.services.catalog, web.services.settings.tenant
    assert catalog.wish_reading(wanted_reading(tenant, identity))
    catalog.mark_stale(tenant, [identity.key])
    assert web.services.store.contains(tenant, [identity.key])
    assert readings(prepare(preparing, policy="none")) == [FIRST, ()]
    with pytest.raises(CacheIncomplete, match="1 of 2"):
        prepare(preparing, policy="none", cache="only")
    catalog.revive(catalog.standing_tombstones(tenant, [identity.key]))
    assert readings(prepare(preparing, policy="none")) == [FIRST, LATER]


def test_the_status_tells_the_policy_and_the_conditioning_in_force(web):
    status = web.client.get("/status").json()
    assert (status["policy"], status["conditioning"]) == (web.services.default_policy, web.services.conditioning)
