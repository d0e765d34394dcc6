"""The store and its codecs as both sides of the connector see it: the tiers that outlive the engine."""

from pathlib import Path

from generator.engine_config import EngineConfig
from kvstore.codecs.codecs import Codecs
from kvstore.store import ChunkStore
from kvstore.tiers.base import Tier
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.redis import RedisTier


def engine_codecs(config: EngineConfig) -> Codecs:
    """What decodes blobs: the profiles calibrated here, and those that ship."""
    return Codecs.beside(Path(config.profiles_dir) if config.profiles_dir else None)


def engine_store(config: EngineConfig) -> ChunkStore:
    redis: list[Tier] = []
    if config.kv_redis_url:
        redis = [RedisTier(config.kv_redis_url, config.kv_redis_ttl_seconds)]
    return ChunkStore([*redis, DiskTier(Path(config.kv_dir), config.kv_disk_bytes)])
