"""Every miss has one reason, and it is the true one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kv_samples import make_identity

from app.core.catalog import Gone, ReadingRecord, ReadingState
from app.core.settings import Settings
from kvstore.key import Reading
from kvstore.lookup import MissReason, StoreMiss, explain_miss, longest_life

WANTED = make_identity()
NOW = datetime(2026, 1, 1, tzinfo=UTC)
READY = ReadingRecord(
    tenant="t",
    key=WANTED.key,
    ids_hash=WANTED.ids_hash,
    model_fingerprint=WANTED.model_fingerprint,
    preamble_hash=WANTED.preamble_hash,
    conditioning_hash="",
    profile_id="",
    reading=WANTED.reading,
    state=ReadingState.READY,
    n_tokens=5,
    bytes=100,
    error=None,
    created_at=NOW,
    updated_at=NOW,
)
OTHER_MODEL = replace(READY, model_fingerprint="9" * 64)
OTHER_PREAMBLE = replace(READY, preamble_hash="9" * 64)
OTHER_READING = replace(READY, reading=Reading.CONDITIONED)
TOO_LARGE = replace(READY, state=ReadingState.FAILED, error_code="too_large")
LOST = replace(READY, state=ReadingState.WANTED)
explain = partial(explain_miss, now=NOW, life_seconds=86_400)


@pytest.mark.parametrize(
    ("store_reason", "record", "others", "reason"),
    [
        (StoreMiss.ABSENT, None, [], MissReason.NOT_PRECOMPUTED),
        (StoreMiss.ABSENT, TOO_LARGE, [], MissReason.TOO_LARGE),
        (StoreMiss.ABSENT, replace(TOO_LARGE, state=ReadingState.WANTED), [OTHER_MODEL], MissReason.TOO_LARGE),
        (StoreMiss.ABSENT, replace(TOO_LARGE, gone=Gone.EVICTED), [], MissReason.TOO_LARGE),
        (StoreMiss.ABSENT, replace(TOO_LARGE, error_code="engine_failed"), [], MissReason.NOT_PRECOMPUTED),
        (StoreMiss.ABSENT, replace(READY, gone=Gone.CORRUPT), [], MissReason.CORRUPT),
        (StoreMiss.TIER_DOWN, replace(READY, gone=Gone.EVICTED), [], MissReason.EVICTED),
        (StoreMiss.ABSENT, replace(LOST, gone=Gone.EVICTED), [OTHER_MODEL], MissReason.EVICTED),
        (StoreMiss.ABSENT, replace(LOST, gone=Gone.EXPIRED), [], MissReason.EXPIRED),
        (StoreMiss.ABSENT, replace(LOST, gone=Gone.CORRUPT), [], MissReason.CORRUPT),
        (StoreMiss.ABSENT, replace(LOST, gone=Gone.STALE_PROFILE), [], MissReason.STALE_PROFILE),
        (StoreMiss.ABSENT, replace(READY, updated_at=NOW - timedelta(days=2)), [], MissReason.EXPIRED),
        (StoreMiss.TIER_DOWN, None, [], MissReason.NOT_PRECOMPUTED),
        (StoreMiss.ABSENT, None, [OTHER_READING], MissReason.NOT_PRECOMPUTED),
        (StoreMiss.ABSENT, None, [OTHER_MODEL], MissReason.STALE_MODEL),
        (StoreMiss.ABSENT, None, [OTHER_PREAMBLE], MissReason.STALE_PREAMBLE),
        (StoreMiss.ABSENT, None, [OTHER_MODEL, OTHER_PREAMBLE], MissReason.STALE_PREAMBLE),
        (StoreMiss.ABSENT, None, [replace(OTHER_MODEL, state=ReadingState.FAILED)], MissReason.NOT_PRECOMPUTED),
        (StoreMiss.ABSENT, replace(READY, state=ReadingState.WANTED), [], MissReason.NOT_PRECOMPUTED),
        (StoreMiss.ABSENT, replace(READY, state=ReadingState.FAILED), [], MissReason.NOT_PRECOMPUTED),
        (StoreMiss.ABSENT, replace(READY, state=ReadingState.WANTED), [OTHER_MODEL], MissReason.STALE_MODEL),
        (StoreMiss.ABSENT, replace(READY, state=ReadingState.STALE), [OTHER_MODEL], MissReason.STALE_PASSAGE),
        (StoreMiss.ABSENT, READY, [OTHER_MODEL], MissReason.EVICTED),
        (StoreMiss.CORRUPT, READY, [], MissReason.CORRUPT),
        (StoreMiss.CORRUPT, None, [], MissReason.CORRUPT),
        (StoreMiss.TIER_DOWN, READY, [], MissReason.TIER_DOWN),
        (StoreMiss.LOAD_TIMEOUT, READY, [], MissReason.LOAD_TIMEOUT),
    ],
)
def test_a_miss_is_explained(store_reason, record, others, reason):
    assert explain(store_reason, record, others, expected=WANTED) is reason


def test_a_ready_reading_that_no_tier_has_is_expired_once_older_than_every_tier_keeps_it():
    def reason(age_seconds, life_seconds, store_reason=StoreMiss.ABSENT):
        old = replace(READY, updated_at=NOW - timedelta(seconds=age_seconds))
        return explain_miss(store_reason, old, [], expected=WANTED, now=NOW, life_seconds=life_seconds)

    assert [reason(age, 60) for age in (0, 60, 60.001)] == [*[MissReason.EVICTED] * 2, MissReason.EXPIRED]
    assert reason(10**9, None) is MissReason.EVICTED
    assert reason(10**9, 60, StoreMiss.TIER_DOWN) is MissReason.TIER_DOWN, "it may be in the tier that is down"


@pytest.mark.parametrize(
    ("settings", "life_seconds"),
    [
        ({}, None),
        ({"kv_disk_ttl_seconds": 60}, 60),
        ({"kv_disk_ttl_seconds": 60, "kv_redis_url": "redis://kv"}, 86_400),
        ({"kv_disk_ttl_seconds": 90_000, "kv_redis_url": "redis://kv"}, 90_000),
        ({"kv_redis_url": "redis://kv"}, None),
        ({"kv_redis_url": "redis://kv", "kv_disk_bytes": 0}, 86_400),
        ({"kv_disk_ttl_seconds": 60, "kv_object_url": "s3://kv"}, None),
        ({"kv_disk_ttl_seconds": 60, "kv_object_url": "s3://kv", "kv_object_ttl_seconds": 600}, 600),
        ({"kv_disk_ttl_seconds": 60, "kv_object_ttl_seconds": 600}, 60),
        ({"kv_disk_bytes": 0, "kv_disk_ttl_seconds": 60}, None),
    ],
)
def test_the_longest_life_is_that_of_the_tiers_that_are_on(settings, life_seconds):
    assert longest_life(Settings(_env_file=None, **settings)) == life_seconds


def test_a_reading_by_another_profile_is_stale():
    wanted = make_identity(profile_id="f" * 32)
    for store_reason in StoreMiss:
        assert explain(store_reason, READY, [], expected=wanted) is MissReason.STALE_PROFILE


@given(
    st.sampled_from(StoreMiss),
    st.none()
    | st.builds(
        partial(replace, READY),
        state=st.sampled_from(ReadingState),
        gone=st.none() | st.sampled_from(Gone),
        error_code=st.sampled_from([None, "too_large", "engine_failed"]),
    ),
    st.lists(st.sampled_from([OTHER_MODEL, OTHER_PREAMBLE, OTHER_READING])),
)
def test_every_miss_has_a_reason_out_of_the_closed_list(store_reason, record, others):
    assert explain(store_reason, record, others, expected=WANTED) in MissReason
