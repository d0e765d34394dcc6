"""What is in force for a model: what is set, and where nothing is, what suits it."""

from app.core.settings import Settings
from generator.conditioning import Conditioning

CONSERVATIVE_POLICY = "head@16"


def effective_policy(settings: Settings) -> str:
    """The policy of requests that name none, as written."""
    return settings.policy or CONSERVATIVE_POLICY


def effective_conditioning(settings: Settings) -> Conditioning:
    """The passage that chunks are also read behind."""
    return Conditioning.OFF if settings.conditioning == "auto" else Conditioning(settings.conditioning)
