"""What scheduler side and worker side tell each other in one step. Plain values: they are pickled between processes."""

from dataclasses import dataclass, field

from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorMetadata, KVConnectorWorkerMetadata

from generator.fusion_request import FusionRequest
from kvstore.reasons import StoreMiss


@dataclass(frozen=True)
class FusionTask:
    """Fill positions [start, end) of one request, of the fused context or behind it; start == end only reports.

    vLLM itself computes the rest of the prompt up to `scheduled` in this step. `token_ids` are those of the fused
    context and of what is scheduled behind it, `block_ids` the request's blocks, `start` the tokens vLLM's prefix cache
    already holds, `missed` the reason per segment for which the scheduler side found nothing.
    """

    vllm_request_id: str
    request: FusionRequest
    token_ids: tuple[int, ...]
    block_ids: tuple[int, ...]
    start: int
    end: int
    scheduled: int
    missed: tuple[StoreMiss | None, ...]


@dataclass(frozen=True)
class PrefetchTask:
    """Fetch the chunk KV for [0, end) of a request that still waits; `token_ids` are those of the fused context."""

    vllm_request_id: str
    request: FusionRequest
    token_ids: tuple[int, ...]
    end: int
    missed: tuple[StoreMiss | None, ...]


@dataclass(frozen=True)
class CaptureTask:
    """Positions [first, last) of a pre-read request are computed in this step; its chunk is [start, end)."""

    vllm_request_id: str
    request: FusionRequest
    token_ids: tuple[int, ...]
    block_ids: tuple[int, ...]
    first: int
    last: int


@dataclass
class FusionMetadata(KVConnectorMetadata):
    fusions: list[FusionTask] = field(default_factory=list)
    captures: list[CaptureTask] = field(default_factory=list)
    prefetches: list[PrefetchTask] = field(default_factory=list)


@dataclass
class Fetches(KVConnectorWorkerMetadata):
    """Requests whose chunk KV has been fetched, once for each rank that has; goes from the workers to the scheduler."""

    ready: list[str]

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "Fetches":
        if not isinstance(other, Fetches):
            raise TypeError(f"expected Fetches, not {type(other).__name__}")
        return Fetches([*self.ready, *other.ready])
