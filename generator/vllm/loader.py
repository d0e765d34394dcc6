"""The load stage: what a request needs is fetched and written into its pages."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generator.arriving import Arriving, Fetched, Wanted
from generator.fusion_request import FusionRequest, SegmentKind
from generator.identity import segment_identities
from generator.plan import LoadedSegment
from generator.report import ChunkOutcome
from generator.vllm.loading import Placed, WrittenLayer, write_chunks
from generator.vllm.metadata import FusionTask, PrefetchTask
from generator.vllm.pages import LayerPages
from generator.vllm.prefetch import Prefetcher
from generator.vllm.ranks import Ranks
from kvstore.reasons import StoreMiss

PREFIX_TIER = "prefix"
"""A chunk that vLLM's own prefix cache already held, as after a preemption."""

_REASONS: tuple[str | None, ...] = (
    None,
    StoreMiss.ABSENT,
    StoreMiss.LOAD_TIMEOUT,
    StoreMiss.TIER_DOWN,
    StoreMiss.STALE_PROFILE,
    StoreMiss.CORRUPT,
)
"""Why a rank has nothing. Where ranks differ the last of these is reported."""


@dataclass(frozen=True)
class LoadedRequest:
    """A request whose chunk KV is in its pages.

    `segments` are those with a part in [task.start, task.end); `written` is what stands in the layers that were to be
    kept, by layer. `placed`: all that was written, from task.start on.
    """

    task: FusionTask
    segments: tuple[LoadedSegment, ...]
    outcomes: tuple[ChunkOutcome, ...]
    written: dict[int, WrittenLayer]
    placed: tuple[Placed, ...]
    load_s: float

    @property
    def unloaded(self) -> Tensor:
        """Positions in [task.start, task.scheduled) that have no KV yet, the question's included; int64, ascending."""
        task = self.task
        empty = torch.ones(task.scheduled, dtype=torch.bool)
        empty[: task.start] = False
        for loaded in self.segments:
            if loaded.reading is not None:
                empty[loaded.segment.start : min(loaded.segment.end, task.end)] = False
        return empty.nonzero()[:, 0]


class Loader:
    def __init__(
        self,
        prefetcher: Prefetcher,
        layers: Sequence[LayerPages],
        ranks: Ranks,
        fingerprint: str,
        block_size: int,
    ) -> None:
        self._prefetcher = prefetcher
        self._layers = layers
        self._ranks = ranks
        self._fingerprint = fingerprint
        self._block_size = block_size

    def prefetch(self, task: PrefetchTask) -> None:
        """Start fetching what the request will need; `load` takes it up."""
        wanted = self._wanted(task.request, task.token_ids, task.missed, 0, task.end)
        self._prefetcher.start(task.vllm_request_id, task.request.tenant, wanted)

    def load(self, task: FusionTask, keep: Collection[int]) -> LoadedRequest:
        """Fetch what the scheduler side found and write it; what is lost meanwhile or damaged is a miss.

        Layers are written while later ones are being decoded. Where one turns out damaged then, whatever was written of
        its chunk is made fresh like any miss, and the others are written again.
        """
        began = time.perf_counter()
        wanted = self._wanted(task.request, task.token_ids, task.missed, task.start, task.end)
        arriving = self._prefetcher.take(task.vllm_request_id, task.request.tenant, wanted)
        found = self._agreed(wanted, [each.found() for each in arriving])
        placed, written = self._write(task, found, arriving, keep)
        whole = self._agreed(wanted, [_whole(each, has) for each, has in zip(arriving, found, strict=True)])
        if any(had.kv is not None and has.kv is None for had, has in zip(found, whole, strict=True)):
            placed, written = self._write(task, whole, arriving, keep)
        loaded: list[LoadedSegment] = []
        outcomes: list[ChunkOutcome] = []
        for segment, fetched, missed in zip(task.request.segments, whole, task.missed, strict=True):
            if segment.end > task.start and segment.start < task.end:
                loaded.append(LoadedSegment(segment, fetched.reading))
            if segment.kind is SegmentKind.CHUNK:
                tier = PREFIX_TIER if segment.end <= task.start else fetched.tier
                reason = None if tier is not None else missed or fetched.reason
                outcomes.append(ChunkOutcome(len(outcomes), segment.n_tokens, tier, reason, fetched.reading))
        seconds = time.perf_counter() - began
        return LoadedRequest(task, tuple(loaded), tuple(outcomes), written, placed, seconds)

    def _write(
        self, task: FusionTask, fetched: Sequence[Fetched], arriving: Sequence[Arriving], keep: Collection[int]
    ) -> tuple[tuple[Placed, ...], dict[int, WrittenLayer]]:
        """Write each layer of what was fetched as soon as it is decoded in all chunks."""
        coming = [each for each, has in zip(arriving, fetched, strict=True) if has.kv is not None]
        # Positions before the task's start belong to others and are left alone.
        placed = tuple(
            Placed(segment, has.kv).since(task.start)
            for segment, has in zip(task.request.segments, fetched, strict=True)
            if has.kv is not None and segment.end > task.start
        )
        written = write_chunks(
            placed,
            self._layers,
            task.block_ids,
            self._block_size,
            keep,
            lambda layer: all(each.has(layer) for each in coming),
        )
        return placed, written

    def _wanted(
        self,
        request: FusionRequest,
        token_ids: Sequence[int],
        missed: Sequence[StoreMiss | None],
        start: int,
        end: int,
    ) -> list[Wanted]:
        """Per segment what may serve it; nothing where the scheduler side found nothing, or outside (start, end]."""
        identities = segment_identities(request, token_ids, self._fingerprint)
        return [
            Wanted(tuple(candidates) if miss is None and start < segment.end <= end else (), segment.n_tokens)
            for segment, candidates, miss in zip(request.segments, identities, missed, strict=True)
        ]

    def _agreed(self, wanted: Sequence[Wanted], fetched: Sequence[Fetched]) -> list[Fetched]:
        """Only what every rank found, under the same reading; all else is a miss on every rank."""
        codes = [
            next((n for n, identity in enumerate(each.identities, start=1) if identity.reading is found.reading), 0)
            for each, found in zip(wanted, fetched, strict=True)
        ]
        reasons = [_REASONS.index(found.reason) for found in fetched]
        extremes = iter(self._ranks.highest([*codes, *(-code for code in codes), *reasons]))
        highest, lowest, worst = ([next(extremes) for _ in fetched] for _ in range(3))
        return [
            found if high == -low > 0 else Fetched(None, reason=_REASONS[reason] or StoreMiss.ABSENT)
            for found, high, low, reason in zip(fetched, highest, lowest, worst, strict=True)
        ]


def _whole(arriving: Arriving, found: Fetched) -> Fetched:
    """`found` with all layers decoded; what the ranks did not all find is not waited for."""
    return found if found.kv is None else arriving.whole()
