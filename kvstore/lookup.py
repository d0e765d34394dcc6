"""Gives a miss its reason: a hash alone cannot tell why it is not there, but the catalog's readings can."""

from collections.abc import Sequence

from app.core.catalog import ReadingRecord, ReadingState
from kvstore.identity import BlobIdentity
from kvstore.reasons import MissReason, StoreMiss


def explain_miss(
    store_reason: StoreMiss,
    record: ReadingRecord | None,
    others: Sequence[ReadingRecord],
    *,
    expected: BlobIdentity,
) -> MissReason:
    """Why the store had no usable KV for a reading.

    Args:
        store_reason: what the store said.
        record: the catalog's entry for the wanted key.
        others: the catalog's other readings of the same token ids, by whatever model and preamble.
        expected: what was wanted.
    """
    if record is None:
        return _staleness(others, expected) or MissReason.NOT_PRECOMPUTED
    if record.state is not ReadingState.READY:
        return MissReason.CORRUPT if store_reason is StoreMiss.CORRUPT else MissReason.NOT_PRECOMPUTED
    if expected.profile_id and record.profile_id != expected.profile_id:
        return MissReason.STALE_PROFILE
    return _OF_A_READY_READING[store_reason]


_OF_A_READY_READING = {
    StoreMiss.ABSENT: MissReason.EVICTED,
    StoreMiss.CORRUPT: MissReason.CORRUPT,
    StoreMiss.TIER_DOWN: MissReason.TIER_DOWN,
}


def _staleness(others: Sequence[ReadingRecord], expected: BlobIdentity) -> MissReason | None:
    comparable = [other for other in others if other.state is ReadingState.READY and other.reading == expected.reading]
    if any(other.model_fingerprint == expected.model_fingerprint for other in comparable):
        return MissReason.STALE_PREAMBLE
    return MissReason.STALE_MODEL if comparable else None


__all__ = ["MissReason", "StoreMiss", "explain_miss"]
