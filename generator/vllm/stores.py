"""The store as seen by the two sides of the connector."""

from pathlib import Path

from generator.engine_config import EngineConfig
from kvstore.store import ChunkStore
from kvstore.tiers.base import Tier
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.memory import MemoryTier
from kvstore.tiers.redis import RedisTier


def worker_store(config: EngineConfig) -> ChunkStore:
    """Memory first: only the worker side reads blobs."""
    memory: list[Tier] = [MemoryTier(config.kv_memory_bytes)] if config.kv_memory_bytes else []
    return ChunkStore([*memory, *_lasting(config)])


def scheduler_store(config: EngineConfig) -> ChunkStore:
    """Without memory: it only answers which keys exist."""
    return ChunkStore(_lasting(config))


def _lasting(config: EngineConfig) -> list[Tier]:
    redis: list[Tier] = []
    if config.kv_redis_url:
        redis = [RedisTier(config.kv_redis_url, config.kv_redis_ttl_seconds)]
    return [*redis, DiskTier(Path(config.kv_dir), config.kv_disk_bytes)]
