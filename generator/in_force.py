"""What is in force for a model: what is set, and where nothing is, what the gate chose."""

from app.core.settings import Settings
from generator.conditioning import Conditioning
from generator.gate import gate_or_conservative


def effective_policy(settings: Settings, fingerprint: str) -> str:
    """The policy of requests that name none, as written."""
    return settings.policy or gate_or_conservative(settings.state_dir, fingerprint).policy


def effective_conditioning(settings: Settings, fingerprint: str) -> Conditioning:
    """The passage that chunks are also read behind."""
    if settings.conditioning != "auto":
        return Conditioning(settings.conditioning)
    return gate_or_conservative(settings.state_dir, fingerprint).conditioning
