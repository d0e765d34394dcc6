"""The shared tiers that the settings ask for, from fast to lasting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from app.core.settings import Settings
from kvstore.errors import TierDown
from kvstore.eviction import Eviction
from kvstore.sealing import Seal
from kvstore.tiers.base import Tier
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.object import ObjectTier
from kvstore.tiers.read_only import ReadOnlyTier
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
    read_only: bool = False

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
            read_only=settings.kv_read_only,
        )

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "TierOptions":
        return cls(**{**body, "eviction": Eviction(body["eviction"])})


def configured_tiers(options: TierOptions, encryption_key: str) -> list[Tier]:
    """Sealed with `encryption_key` where it is not empty, and none of them written to where `read_only` says so.

    Raises: TierDown for a URL that is none, but not for a tier that does not answer now; BadInput for a key that is
    none.
    """
    return [make() for make in tier_makers(options, encryption_key).values()]


def tier_makers(options: TierOptions, encryption_key: str) -> dict[str, Callable[[], Tier]]:
    """What makes each of `configured_tiers`, by its name, for who goes on where one cannot be used.

    Raises: BadInput for a key that is none.
    """
    makers: dict[str, Callable[[], Tier]] = {}
    if options.redis_url:
        makers[RedisTier.name] = partial(redis_tier, options)
    if options.disk_bytes:
        makers[DiskTier.name] = partial(_disk_tier, options)
    if options.object_url:
        makers[ObjectTier.name] = partial(object_tier, options)
    if encryption_key:
        seal = Seal.from_text(encryption_key)
        makers = {name: partial(_sealed, make, seal) for name, make in makers.items()}
    if options.read_only:
        makers = {name: partial(_read_only, make) for name, make in makers.items()}
    return makers


def redis_tier(options: TierOptions) -> RedisTier:
    """Raises: TierDown for a URL that cannot be used."""
    try:
        return RedisTier(options.redis_url, options.redis_ttl_seconds)
    except ValueError as error:
        raise TierDown(
            f"Redis for chunk KV cannot be used: {error}", "Set PREREAD_KV_REDIS_URL to redis://, rediss:// or unix://…"
        ) from error


def object_tier(options: TierOptions) -> ObjectTier:
    """Raises: TierDown for a URL that cannot be used."""
    return ObjectTier(
        options.object_url,
        limit_bytes=options.object_bytes,
        ttl_seconds=options.object_ttl_seconds,
        timeout_seconds=options.object_timeout_seconds,
        read_only=options.read_only,
    )


def _disk_tier(options: TierOptions) -> DiskTier:
    return DiskTier(
        Path(options.dir),
        options.disk_bytes,
        eviction=options.eviction,
        ttl_seconds=options.disk_ttl_seconds,
        read_only=options.read_only,
    )


def _read_only(make: Callable[[], Tier]) -> Tier:
    return ReadOnlyTier(make())


def _sealed(make: Callable[[], Tier], seal: Seal) -> Tier:
    return SealedTier(make(), seal)


__all__ = ["TierOptions", "configured_tiers", "object_tier", "redis_tier", "tier_makers"]
