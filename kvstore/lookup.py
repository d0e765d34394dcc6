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
    ready = record if record is not None and record.state is ReadingState.READY else None
    if ready is not None and expected.profile_id and ready.profile_id != expected.profile_id:
        return MissReason.STALE_PROFILE
    if store_reason in {StoreMiss.CORRUPT, StoreMiss.STALE_PROFILE, StoreMiss.LOAD_TIMEOUT}:
        return MissReason(store_reason)
    if record is not None and record.state is ReadingState.STALE:
        return MissReason.STALE_PASSAGE
    if ready is None:
        return _staleness(others, expected) or MissReason.NOT_PRECOMPUTED
    return MissReason.TIER_DOWN if store_reason is StoreMiss.TIER_DOWN else MissReason.EVICTED


def _staleness(others: Sequence[ReadingRecord], expected: BlobIdentity) -> MissReason | None:
    comparable = [other for other in others if other.state is ReadingState.READY and other.reading == expected.reading]
    if any(other.model_fingerprint == expected.model_fingerprint for other in comparable):
        return MissReason.STALE_PREAMBLE
    return MissReason.STALE_MODEL if comparable else None


__all__ = ["MissReason", "StoreMiss", "explain_miss"]
