"""Fusion of one request: load, select, recompute, report."""

import time
from collections.abc import Sequence

from generator.fusion_request import SegmentKind
from generator.identity import segment_identities
from generator.plan import LoadedSegment, fresh_positions
from generator.policy import Policy, PolicyName, parse_policy
from generator.report import ChunkOutcome, FusionReport
from generator.vllm.fetching import Fetcher
from generator.vllm.loading import Placed, write_chunks
from generator.vllm.metadata import FusionTask
from generator.vllm.notes import Notes
from generator.vllm.pages import LayerPages
from generator.vllm.recompute import Recompute

PREFIX_TIER = "prefix"
"""A chunk that vLLM's own prefix cache already held, as after a preemption."""


class Fuser:
    """Fills the promised positions of a request before vLLM goes on with its question."""

    def __init__(
        self,
        fetcher: Fetcher,
        layers: Sequence[LayerPages],
        recompute: Recompute,
        notes: Notes,
        fingerprint: str,
        block_size: int,
        not_fused: str | None,
    ) -> None:
        self._fetcher = fetcher
        self._layers = layers
        self.recompute = recompute
        self._notes = notes
        self._fingerprint = fingerprint
        self._block_size = block_size
        self._not_fused = not_fused

    def fuse(self, task: FusionTask) -> None:
        began = time.perf_counter()
        loaded, placed, outcomes = self._fetch(task)
        write_chunks(placed, self._layers, task.block_ids, self._block_size, task.start)
        after_load = time.perf_counter()
        policy = parse_policy(task.request.policy)
        chosen = Policy(PolicyName.EXACT) if task.request.nested else policy
        positions = fresh_positions(loaded, task.start, task.end, chosen)
        after_select = time.perf_counter()
        if len(positions):
            self.recompute(task.token_ids, positions, task.block_ids)
        after_recompute = time.perf_counter()
        context = task.request.context_tokens
        prefix = min(task.start, context)
        reused = max(task.end - task.start - len(positions), 0)
        wants_fusion = policy.name is not PolicyName.EXACT or task.request.nested
        self._notes.write_report(
            FusionReport(
                request_id=task.request.request_id,
                policy=task.request.policy,
                context_tokens=context,
                reused_tokens=reused,
                fresh_tokens=context - prefix - reused,
                prefix_tokens=prefix,
                load_s=after_load - began,
                select_s=after_select - after_load,
                recompute_s=after_recompute - after_select,
                chunks=tuple(outcomes),
                not_fused=self._not_fused if wants_fusion else None,
            )
        )

    def _fetch(self, task: FusionTask) -> tuple[list[LoadedSegment], list[Placed], list[ChunkOutcome]]:
        identities = segment_identities(task.request, task.token_ids, self._fingerprint)
        segments = task.request.segments
        wanted = [
            candidates if missed is None and task.start < segment.end <= task.end else []
            for segment, candidates, missed in zip(segments, identities, task.missed, strict=True)
        ]
        fetched = self._fetcher.fetch(task.request.tenant, wanted)
        loaded: list[LoadedSegment] = []
        placed: list[Placed] = []
        outcomes: list[ChunkOutcome] = []
        for segment, found, missed in zip(segments, fetched, task.missed, strict=True):
            if found.kv is not None:
                placed.append(Placed(segment, found.kv))
            if segment.end > task.start and segment.start < task.end:
                loaded.append(LoadedSegment(segment, found.reading))
            if segment.kind is SegmentKind.CHUNK:
                tier = PREFIX_TIER if segment.end <= task.start else found.tier
                reason = None if tier is not None else missed or found.reason
                outcomes.append(ChunkOutcome(len(outcomes), segment.n_tokens, tier, reason))
        return loaded, placed, outcomes
