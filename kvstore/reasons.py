"""Why a chunk had no KV."""

from enum import StrEnum


class StoreMiss(StrEnum):
    """What the store alone can tell, and whoever loads from it: LOAD_TIMEOUT, it would have taken too long."""

    ABSENT = "absent"
    CORRUPT = "corrupt"
    LOAD_TIMEOUT = "load_timeout"
    STALE_PROFILE = "stale_profile"
    TIER_DOWN = "tier_down"


class MissReason(StrEnum):
    """What people are told: every lookup ends as a hit, or as a miss with one of these."""

    NOT_PRECOMPUTED = "not_precomputed"
    EVICTED = "evicted"
    EXPIRED = "expired"
    STALE_MODEL = "stale_model"
    STALE_PREAMBLE = "stale_preamble"
    STALE_PROFILE = "stale_profile"
    STALE_PASSAGE = "stale_passage"
    CORRUPT = "corrupt"
    LOAD_TIMEOUT = "load_timeout"
    TIER_DOWN = "tier_down"
    TOO_LARGE = "too_large"
    DISABLED = "disabled"


__all__ = ["MissReason", "StoreMiss"]
