"""Gives a miss its reason: a hash alone cannot tell why it is not there, but the catalog's readings can."""

from collections.abc import Sequence
from datetime import datetime

from app.core.catalog import Gone, ReadingRecord, ReadingState
from app.core.settings import Settings
from kvstore.errors import TooLarge
from kvstore.identity import BlobIdentity
from kvstore.reasons import MissReason, StoreMiss


def explain_miss(
    store_reason: StoreMiss,
    record: ReadingRecord | None,
    others: Sequence[ReadingRecord],
    *,
    expected: BlobIdentity,
    now: datetime,
    life_seconds: float | None,
) -> MissReason:
    """Why the store had no usable KV for a reading.

    Args:
        store_reason: what the store said.
        record: the catalog's entry for the wanted key.
        others: the catalog's other readings of the same token ids, by whatever model and preamble.
        expected: what was wanted.
        now: aware.
        life_seconds: the `longest_life` of the tiers.
    """
    ready = record if record is not None and record.state is ReadingState.READY else None
    if ready is not None and expected.profile_id and ready.profile_id != expected.profile_id:
        return MissReason.STALE_PROFILE
    if store_reason in {StoreMiss.CORRUPT, StoreMiss.STALE_PROFILE, StoreMiss.LOAD_TIMEOUT}:
        return MissReason(store_reason)
    if record is not None and record.state is ReadingState.STALE:
        return MissReason.STALE_PASSAGE
    if record is not None and record.error_code == TooLarge.code:
        return MissReason.TOO_LARGE
    if record is not None and record.gone is not None:
        return MissReason(record.gone)
    if ready is None:
        return _staleness(others, expected) or MissReason.NOT_PRECOMPUTED
    if store_reason is StoreMiss.TIER_DOWN:
        return MissReason.TIER_DOWN
    return MissReason(fate(ready, now, life_seconds))


def fate(ready: ReadingRecord, now: datetime, life_seconds: float | None) -> Gone:
    """What became of a ready reading's blob that no tier has: what was noted, else what its age says."""
    if ready.gone is not None:
        return ready.gone
    age_seconds = (now - ready.updated_at).total_seconds()
    return Gone.EVICTED if life_seconds is None or age_seconds <= life_seconds else Gone.EXPIRED


def longest_life(settings: Settings) -> float | None:
    """Seconds for which some shared tier keeps what nothing evicts; None: for good, or there is no such tier."""
    lives = [
        seconds
        for is_on, seconds in (
            (settings.kv_redis_url, settings.kv_redis_ttl_seconds),
            (settings.kv_disk_bytes, settings.kv_disk_ttl_seconds),
            (settings.kv_object_url, settings.kv_object_ttl_seconds),
        )
        if is_on
    ]
    return max(lives) if lives and all(lives) else None


def _staleness(others: Sequence[ReadingRecord], expected: BlobIdentity) -> MissReason | None:
    comparable = [other for other in others if other.state is ReadingState.READY and other.reading == expected.reading]
    if any(other.model_fingerprint == expected.model_fingerprint for other in comparable):
        return MissReason.STALE_PREAMBLE
    return MissReason.STALE_MODEL if comparable else None


__all__ = ["MissReason", "StoreMiss", "explain_miss", "fate", "longest_life"]
