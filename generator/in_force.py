"""What is in force for a model: what is set, and where nothing is, what the gate chose."""

from app.core.settings import Settings
from generator.conditioning import Conditioning
from generator.gate import gate_or_conservative
from kvstore.codecs.base import Codec
from kvstore.codecs.codecs import LOSSLESS, Codecs


def effective_policy(settings: Settings, fingerprint: str) -> str:
    """The policy of requests that name none, as written."""
    return settings.policy or gate_or_conservative(settings.state_dir, fingerprint).policy


def effective_conditioning(settings: Settings, fingerprint: str) -> Conditioning:
    """The passage that chunks are also read behind."""
    if settings.conditioning != "auto":
        return Conditioning(settings.conditioning)
    return gate_or_conservative(settings.state_dir, fingerprint).conditioning


def effective_codec(settings: Settings, fingerprint: str, codecs: Codecs) -> Codec:
    """What chunks' KV is stored with. Raises: BadName, BadProfile where a preset is set that cannot be had."""
    if settings.kv_preset:
        return codecs.to_write(settings.kv_preset, fingerprint)
    return codecs.to_write("default", fingerprint) if codecs.has_profile(fingerprint) else LOSSLESS


def effective_compact_codec(settings: Settings, fingerprint: str, codecs: Codecs) -> Codec | None:
    """What chunks' KV is stored with a second time, if it is. Raises: as `effective_codec`."""
    return codecs.to_write(settings.kv_compact_preset, fingerprint) if settings.kv_compact_preset else None
