"""What lies in a tier under keys that were to be emptied."""

from collections.abc import Collection, Mapping

from kvstore.blob import Blob
from kvstore.errors import CorruptBlob
from kvstore.levels import at_all_levels
from kvstore.tiers.base import Tier


def remaining(tier: Tier, tenant: str, keys: Collection[str]) -> set[str]:
    """Those of `keys` under which the tier has something, at whatever level. Raises: TierDown."""
    stored = at_all_levels(keys)
    return {stored[name] for name in tier.contains(tenant, stored)}


def behind_another_passage(tier: Tier, tenant: str, passages: Mapping[str, str]) -> set[str]:
    """Those keys whose blob, at some level, was read behind another passage than the one of this hash.

    `passages`: by key, "" for an opening reading. What cannot be read serves nobody, and is not among them.
    Raises: TierDown.
    """
    stored = at_all_levels(passages)
    return {
        stored[name]
        for name in tier.contains(tenant, stored)
        if _passage(tier, tenant, name) not in (None, passages[stored[name]])
    }


def _passage(tier: Tier, tenant: str, key: str) -> str | None:
    try:
        data = tier.peek(tenant, key)
        return None if data is None else Blob.parse(data).identity.conditioning_hash
    except CorruptBlob:
        return None


__all__ = ["behind_another_passage", "remaining"]
