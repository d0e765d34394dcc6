"""Why a chunk missed, told from the catalog's record and kept until it is pre-read again; what a hit loaded."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from scripted_engine import FINGERPRINT
from sqlalchemy import create_engine, update

from app.core.catalog import Gone, ReadingState
from app.core.catalog.models import StoredReading
from generator.identity import chunk_identity
from kvstore.key import Reading
from kvstore.reasons import MissReason
from workers.pieces import wanted_reading

QUESTION = "How many days of annual leave does everybody have, and what is the travel meal allowance?"


@pytest.fixture
def reading(web):
    """What the catalog is made to know of the passage that a question finds first, for the time of the test."""
    catalog, tenant = web.services.catalog, web.services.settings.tenant
    sources = next(event for event in web.stream(QUESTION) if event.name == "sources")
    first = sources.data["passages"][0]
    web.settle()
    version = catalog.get_document(tenant, first["document_id"]).current_version_id
    (chunk,) = (chunk for chunk in catalog.chunks_of(version) if chunk.id == first["chunk_id"])
    identity = chunk_identity(FINGERPRINT, web.services.preamble.ids, chunk.token_ids, Reading.OPENING)

    def reading(**columns):
        assert catalog.wish_reading(wanted_reading(tenant, identity))
        assert catalog.reading_ready(tenant, identity.key, len(chunk.token_ids), 100, bytes_in_16_bits=550)
        if columns:
            engine = create_engine(web.services.settings.effective_database_url)
            with engine.begin() as connection:
                connection.execute(update(StoredReading).where(StoredReading.key == identity.key).values(**columns))
            engine.dispose()

    reading.record = lambda: next(r for r in catalog.readings(tenant, [identity.ids_hash]) if r.key == identity.key)
    reading.again = lambda: catalog.reading_ready(tenant, identity.key, len(chunk.token_ids), 100)
    yield reading
    catalog.drop_readings(tenant, [identity.key])


def reason(web, told="absent"):
    """What a question is told of its first passage, where the store tells the engine this."""
    web.engine.tiers = [(None, told), (None, "absent")]
    misses = web.ask(QUESTION, policy="alone:none").json()["cache"]["misses"]
    web.settle()
    return misses[0]["reason"]


EACH = {
    MissReason.EVICTED: ({}, "absent"),
    MissReason.EXPIRED: ({"updated_at": datetime.now(UTC) - timedelta(days=2)}, "absent"),
    MissReason.CORRUPT: ({}, "corrupt"),
    MissReason.LOAD_TIMEOUT: ({}, "load_timeout"),
    MissReason.TIER_DOWN: ({}, "tier_down"),
    MissReason.STALE_PROFILE: ({}, "stale_profile"),
    MissReason.STALE_PASSAGE: ({"state": ReadingState.STALE}, "absent"),
    MissReason.TOO_LARGE: ({"state": ReadingState.FAILED, "error_code": "too_large"}, "absent"),
    MissReason.STALE_MODEL: ({"key": "e" * 64, "model_fingerprint": "9" * 64}, "absent"),
    MissReason.STALE_PREAMBLE: ({"key": "e" * 64, "preamble_hash": "9" * 64}, "absent"),
    MissReason.NOT_PRECOMPUTED: ({"state": ReadingState.WANTED}, "absent"),
}


@pytest.fixture
def keeps_for_a_day(web, monkeypatch):
    settings = web.services.settings.model_copy(update={"kv_disk_ttl_seconds": 86_400})
    lookups = web.server.config.app.state.answering._lookups
    monkeypatch.setattr(lookups, "_services", replace(web.services, settings=settings))


@pytest.mark.parametrize("expected", EACH)
def test_every_reason_is_told_and_counted(web, reading, keeps_for_a_day, expected):
    columns, told = EACH[expected]
    reading(**columns)
    before = counted(web, expected)
    assert reason(web, told) == expected
    assert counted(web, expected) > before
    if "key" in columns:
        web.services.catalog.drop_readings("default", ["e" * 64])


def test_where_the_cache_is_off_the_reason_is_disabled(web, reading):
    answer = web.ask(QUESTION, cache="off").json()
    assert {miss["reason"] for miss in answer["cache"]["misses"]} == {MissReason.DISABLED}
    assert {*EACH, MissReason.DISABLED} == set(MissReason), "these tests tell every reason of the closed list"


def test_a_damaged_blob_stays_the_reason_until_it_is_made_again(web, reading):
    reading()
    assert reason(web, "corrupt") == "corrupt"
    assert reading.record().gone is Gone.CORRUPT
    assert reason(web) == "corrupt", "it was dropped, so now it is merely absent"
    web.services.catalog.readings_lost("default", [reading.record().key], reading.record().gone)
    assert reading.record().state is ReadingState.WANTED
    assert reason(web) == "corrupt"
    reading.again()
    assert reading.record().gone is None
    assert reason(web) == "evicted"


@pytest.mark.parametrize("told", ["tier_down", "load_timeout"])
def test_what_may_still_be_there_is_not_noted_as_gone(web, reading, told):
    reading()
    assert reason(web, told) == told
    assert reading.record().gone is None


@pytest.mark.parametrize(("tier", "loaded"), [("disk", (100, 550)), ("memory", (0, 0))])
def test_only_what_did_not_lie_decoded_in_memory_was_loaded(web, reading, tier, loaded):
    reading()
    web.engine.tiers = [(tier, None), (None, "absent")]
    before = web.services.catalog.saving_totals("default")
    web.ask(QUESTION, policy="alone:none")
    web.settle()
    after = web.services.catalog.saving_totals("default")
    assert after.loaded_bytes - before.loaded_bytes == loaded[0]
    assert after.loaded_bytes_in_16_bits - before.loaded_bytes_in_16_bits == loaded[1]
    assert after.load_seconds > before.load_seconds


def counted(web, wanted):
    report = web.client.get("/admin/cache").json()
    return {each["reason"]: each["chunks"] for each in report["misses_by_reason"]}.get(wanted, 0)
