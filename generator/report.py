"""What the engine did for one request: hits, misses, tokens and seconds."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ChunkOutcome:
    """One chunk segment: `tier` and `reading` when its KV was reused, else `reason` (absent, corrupt, tier_down)."""

    ordinal: int
    n_tokens: int
    tier: str | None = None
    reason: str | None = None
    reading: str | None = None


@dataclass(frozen=True)
class FusionReport:
    """Token counts are of the fused context: reused + fresh + prefix = context_tokens. Times are seconds.

    `selection` is the work of choosing fresh tokens: token-layers ÷ all token-layers of the fused context.
    `not_fused` says why a request was served exactly although its policy would have fused; None otherwise.
    """

    request_id: str
    policy: str
    context_tokens: int
    reused_tokens: int = 0
    fresh_tokens: int = 0
    prefix_tokens: int = 0
    load_s: float = 0.0
    select_s: float = 0.0
    recompute_s: float = 0.0
    selection: float = 0.0
    chunks: tuple[ChunkOutcome, ...] = ()
    not_fused: str | None = None

    @property
    def effective_recompute(self) -> float | None:
        """Token-layers computed, selection included, ÷ all token-layers of the fused context. None: no context."""
        return self.fresh_tokens / self.context_tokens + self.selection if self.context_tokens else None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "FusionReport":
        return cls(**{**body, "chunks": tuple(ChunkOutcome(**c) for c in body["chunks"])})
