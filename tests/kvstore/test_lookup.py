"""Every miss has one reason, and it is the true one."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kv_samples import make_identity

from app.core.catalog import ReadingRecord, ReadingState
from kvstore.key import Reading
from kvstore.lookup import MissReason, StoreMiss, explain_miss

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


@pytest.mark.parametrize(
    ("store_reason", "record", "others", "reason"),
    [
        (StoreMiss.ABSENT, None, [], MissReason.NOT_PRECOMPUTED),
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
    assert explain_miss(store_reason, record, others, expected=WANTED) is reason


def test_a_reading_by_another_profile_is_stale():
    wanted = make_identity(profile_id="f" * 32)
    for store_reason in StoreMiss:
        assert explain_miss(store_reason, READY, [], expected=wanted) is MissReason.STALE_PROFILE


@given(
    st.sampled_from(StoreMiss),
    st.none() | st.builds(lambda state: replace(READY, state=state), st.sampled_from(ReadingState)),
    st.lists(st.sampled_from([OTHER_MODEL, OTHER_PREAMBLE, OTHER_READING])),
)
def test_every_miss_has_a_reason_out_of_the_closed_list(store_reason, record, others):
    assert explain_miss(store_reason, record, others, expected=WANTED) in MissReason
