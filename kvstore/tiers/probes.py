"""Whether each configured tier can be used, for those who tell what does not answer."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from kvstore.tiers.base import Tier
from kvstore.tiers.blob_files import probe_folder
from kvstore.tiers.configured import TierOptions, object_tier, redis_tier
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.disk_errors import DISK_ERRORS, tier_down
from kvstore.tiers.object import ObjectTier
from kvstore.tiers.redis import RedisTier

Probe: TypeAlias = Callable[[], None]
"""Raises TierDown, at once where the tier was silent a moment ago."""

PART_NAMES = {
    RedisTier.name: "redis for chunk KV",
    DiskTier.name: "disk for chunk KV",
    ObjectTier.name: "object store for chunk KV",
}
"""What operators are shown, by the tiers' names."""

_TENANT, _KEY = "probe", "0" * 64


def tier_probes(options: TierOptions) -> dict[str, Probe]:
    """By the tiers' names. The disk is written to where the tier is; Redis and the object store are only asked.

    Raises: TierDown for a URL that cannot be used.
    """
    probes: dict[str, Probe] = {}
    if options.redis_url:
        probes[RedisTier.name] = partial(_ask, redis_tier(options))
    if options.disk_bytes:
        probes[DiskTier.name] = partial(probe_disk, options)
    if options.object_url:
        probes[ObjectTier.name] = partial(_ask, object_tier(options))
    return probes


def probe_disk(options: TierOptions) -> None:
    """Raises: TierDown where the folder cannot be used, or is all but full."""
    folder = Path(options.dir)
    try:
        probe_folder(folder, read_only=options.read_only)
    except DISK_ERRORS as error:
        raise tier_down(error, folder) from error


def _ask(tier: Tier) -> None:
    tier.contains(_TENANT, [_KEY])


__all__ = ["PART_NAMES", "Probe", "probe_disk", "tier_probes"]
