"""The shared tiers that the settings ask for, from fast to lasting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from app.core.settings import Settings
from kvstore.eviction import Eviction
from kvstore.sealing import Seal
from kvstore.tiers.base import Tier
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.object import ObjectTier
from kvstore.tiers.redis import RedisTier
from kvstore.tiers.sealed import SealedTier


@dataclass(frozen=True)
class TierOptions:
    """As the settings with these names after `kv_`. An empty URL or a disk of 0 bytes: that tier is off."""

    dir: str
    disk_bytes: int
    disk_ttl_seconds: int = 0
    eviction: Eviction = Eviction.VALUE
    redis_url: str = ""
    redis_ttl_seconds: int = 86_400
    object_url: str = ""
    object_bytes: int = 0
    object_ttl_seconds: int = 0
    object_timeout_seconds: float = 5.0

    @classmethod
    def from_settings(cls, settings: Settings) -> "TierOptions":
        return cls(
            dir=str(settings.effective_kv_dir),
            disk_bytes=settings.kv_disk_bytes,
            disk_ttl_seconds=settings.kv_disk_ttl_seconds,
            eviction=Eviction(settings.kv_eviction),
            redis_url=settings.kv_redis_url,
            redis_ttl_seconds=settings.kv_redis_ttl_seconds,
            object_url=settings.kv_object_url,
            object_bytes=settings.kv_object_bytes,
            object_ttl_seconds=settings.kv_object_ttl_seconds,
            object_timeout_seconds=settings.kv_object_timeout_seconds,
        )

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "TierOptions":
        return cls(**{**body, "eviction": Eviction(body["eviction"])})


def configured_tiers(options: TierOptions, encryption_key: str) -> list[Tier]:
    """Sealed with `encryption_key` where it is not empty.

    Raises: TierDown where a tier cannot be used as configured; BadInput for a key that is none.
    """
    return [make() for make in tier_makers(options, encryption_key).values()]


def tier_makers(options: TierOptions, encryption_key: str) -> dict[str, Callable[[], Tier]]:
    """What makes each of `configured_tiers`, by its name, for who goes on where one cannot be used.

    Raises: BadInput for a key that is none.
    """
    makers: dict[str, Callable[[], Tier]] = {}
    if options.redis_url:
        makers[RedisTier.name] = partial(RedisTier, options.redis_url, options.redis_ttl_seconds)
    if options.disk_bytes:
        disk, ttl = Path(options.dir), options.disk_ttl_seconds
        makers[DiskTier.name] = partial(
            DiskTier, disk, options.disk_bytes, eviction=options.eviction, ttl_seconds=ttl
        )
    if options.object_url:
        makers[ObjectTier.name] = partial(object_tier, options)
    if not encryption_key:
        return makers
    seal = Seal.from_text(encryption_key)
    return {name: partial(_sealed, make, seal) for name, make in makers.items()}


def object_tier(options: TierOptions) -> ObjectTier:
    """Raises: TierDown for a URL that cannot be used."""
    return ObjectTier(
        options.object_url,
        limit_bytes=options.object_bytes,
        ttl_seconds=options.object_ttl_seconds,
        timeout_seconds=options.object_timeout_seconds,
    )


def _sealed(make: Callable[[], Tier], seal: Seal) -> Tier:
    return SealedTier(make(), seal)


__all__ = ["TierOptions", "configured_tiers", "object_tier", "tier_makers"]
