"""What a request tells the engine beside its token ids: the `kv_transfer_params` of `/v1/completions`.

The engine derives every key from the token ids it was sent, so a request cannot name chunk KV of other text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from generator.errors import BadFusionRequest
from kvstore.key import Reading

FIELD = "preread"
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")


class SegmentKind(StrEnum):
    PREAMBLE = "preamble"
    TEXT = "text"
    CHUNK = "chunk"


@dataclass(frozen=True)
class Segment:
    """Tokens [start, end) of the prompt. `readings` are the chunk KV to look for, best first; none: always fresh."""

    start: int
    end: int
    kind: SegmentKind
    readings: tuple[Reading, ...] = ()

    @property
    def n_tokens(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class FusionRequest:
    """How to serve one prompt.

    `segments` cover the fused context from token 0 without gaps; the question follows the last. `capture` asks for
    pre-reading: the KV of the last segment is staged under that reading. `nested` makes every token of the fused
    context fresh through the recompute forward, which is how its exactness is proven. `impact_layers`: the layers whose
    attention `impact` sums; none: the engine's.
    """

    request_id: str
    tenant: str
    policy: str
    segments: tuple[Segment, ...]
    capture: Reading | None = None
    nested: bool = False
    impact_layers: tuple[int, ...] = ()

    @property
    def context_tokens(self) -> int:
        return self.segments[-1].end if self.segments else 0

    def to_params(self) -> dict[str, Any]:
        return {
            FIELD: {
                "request_id": self.request_id,
                "tenant": self.tenant,
                "policy": self.policy,
                "segments": [[s.start, s.end, s.kind, list(s.readings)] for s in self.segments],
                "capture": self.capture,
                "nested": self.nested,
                "impact_layers": list(self.impact_layers),
            }
        }

    @classmethod
    def from_params(cls, params: Mapping[str, Any] | None) -> "FusionRequest | None":
        """The request in `kv_transfer_params`, or None where it is not ours. Raises BadFusionRequest."""
        if not params or FIELD not in params:
            return None
        try:
            body = params[FIELD]
            request = cls(
                request_id=str(body["request_id"]),
                tenant=str(body["tenant"]),
                policy=str(body["policy"]),
                segments=tuple(
                    Segment(int(start), int(end), SegmentKind(kind), tuple(Reading(r) for r in readings))
                    for start, end, kind, readings in body["segments"]
                ),
                capture=Reading(body["capture"]) if body["capture"] else None,
                nested=bool(body["nested"]),
                impact_layers=tuple(int(layer) for layer in body["impact_layers"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise BadFusionRequest(f"The fusion request cannot be read: {error!r}.") from error
        request.check()
        return request

    def check(self) -> None:
        """Raises BadFusionRequest unless the segments cover the context from 0 without gaps."""
        if not _REQUEST_ID.fullmatch(self.request_id):
            raise BadFusionRequest("The request id may hold letters, digits, '-' and '_' only, 80 at most.")
        if self.capture is not None and not self.segments:
            raise BadFusionRequest("There is nothing to capture: the request has no segments.")
        position = 0
        for segment in self.segments:
            if segment.start != position or segment.end <= segment.start:
                raise BadFusionRequest(f"Segment [{segment.start}, {segment.end}) does not follow token {position}.")
            position = segment.end
