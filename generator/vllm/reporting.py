"""Reports: what became of a request, left as a note for the engine's routes."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.fusion_request import SegmentKind
from generator.policy import PolicyName, parse_policy
from generator.report import ChunkOutcome, FusionReport
from generator.vllm.metadata import FusionTask
from generator.vllm.notes import Notes
from kvstore.reasons import StoreMiss


@dataclass(frozen=True)
class Fused:
    """Seconds of each stage, how many positions were made fresh, and how many token-layers the choice took."""

    load_s: float
    select_s: float
    recompute_s: float
    fresh: int
    token_layers: int


class Reporter:
    def __init__(self, notes: Notes, n_layers: int) -> None:
        self._notes = notes
        self._n_layers = n_layers

    def fused(self, task: FusionTask, outcomes: Sequence[ChunkOutcome], fused: Fused) -> None:
        context = task.request.context_tokens
        prefix = min(task.start, context)
        reused = max(min(task.end, context) - task.start - fused.fresh, 0)
        self._notes.write_report(
            FusionReport(
                request_id=task.request.request_id,
                policy=task.request.policy,
                context_tokens=context,
                reused_tokens=reused,
                fresh_tokens=context - prefix - reused,
                prefix_tokens=prefix,
                load_s=fused.load_s,
                select_s=fused.select_s,
                recompute_s=fused.recompute_s,
                selection=fused.token_layers / (self._n_layers * context) if context else 0.0,
                chunks=tuple(outcomes),
            )
        )

    def exact(self, task: FusionTask, reason: str) -> None:
        """The engine does not fuse: everything that the prefix cache does not hold is fresh."""
        request = task.request
        prefix = min(task.start, request.context_tokens)
        chunks = [segment for segment in request.segments if segment.kind is SegmentKind.CHUNK]
        wanted = parse_policy(request.policy).name is not PolicyName.EXACT or request.nested
        self._notes.write_report(
            FusionReport(
                request_id=request.request_id,
                policy=request.policy,
                context_tokens=request.context_tokens,
                fresh_tokens=request.context_tokens - prefix,
                prefix_tokens=prefix,
                chunks=tuple(
                    ChunkOutcome(ordinal, segment.n_tokens, reason=StoreMiss.ABSENT)
                    for ordinal, segment in enumerate(chunks)
                ),
                not_fused=reason if wanted else None,
            )
        )
