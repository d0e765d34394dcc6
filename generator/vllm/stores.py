"""The store and its codecs as both sides of the connector see it: the tiers that outlive the engine."""

from pathlib import Path

from app.core.settings import get_settings
from generator.engine_config import EngineConfig
from kvstore.codecs.codecs import Codecs
from kvstore.store import ChunkStore
from kvstore.tiers.configured import configured_tiers


def engine_codecs(config: EngineConfig) -> Codecs:
    """What decodes blobs: the profiles calibrated here, and those that ship."""
    return Codecs.beside(Path(config.profiles_dir) if config.profiles_dir else None)


def engine_store(config: EngineConfig) -> ChunkStore:
    # Not in the configuration: that stands in the command line, which others on the machine can read.
    key = get_settings().kv_encryption_key.get_secret_value()
    return ChunkStore(configured_tiers(config.tiers, key))
