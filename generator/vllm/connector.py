"""The KV connector that vLLM loads: it hands vLLM's calls to the scheduler side or the worker side.

Where and why it differs from vLLM's own connectors:

1. The tokens it promises need not be a prefix of anything cached: chunk KV is loaded in any order, and what is missing
   in between is computed inside `start_load_kv` by a forward of its own.
2. It keeps nothing of a request after it finishes, and asks for no delivery: losing a capture is a later miss.
3. It needs the model itself, which `FusionWorker` hands over once the pages exist (`attach`).
4. The worker's verdict (does this model fuse?) reaches the scheduler as handshake metadata.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorHandshakeMetadata,
    KVConnectorMetadata,
    KVConnectorRole,
    KVConnectorWorkerMetadata,
)

from generator.engine_config import EngineConfig
from generator.vllm.admission import Admission
from generator.vllm.metadata import Fetches, FusionMetadata
from generator.vllm.scheduler_side import SchedulerSide
from generator.vllm.stores import engine_store
from generator.vllm.worker_side import WorkerSide

if TYPE_CHECKING:
    from torch import Tensor
    from vllm.config import VllmConfig
    from vllm.forward_context import ForwardContext
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.outputs import KVConnectorOutput
    from vllm.v1.request import Request
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner


@dataclass
class FusionHandshake(KVConnectorHandshakeMetadata):
    """`reason` says why a worker refuses to fuse."""

    reason: str | None


class FusionConnector(KVConnectorBase_V1):
    def __init__(self, vllm_config: "VllmConfig", role: KVConnectorRole, kv_cache_config: "KVCacheConfig") -> None:
        super().__init__(vllm_config=vllm_config, role=role, kv_cache_config=kv_cache_config)
        self._engine_config = EngineConfig.from_json(self._kv_transfer_config.kv_connector_extra_config)
        self._caches: dict[str, Tensor] = {}
        self._worker: WorkerSide | None = None
        self._scheduler: SchedulerSide | None = None
        if role is KVConnectorRole.SCHEDULER:
            config = self._engine_config
            admission = Admission(vllm_config.parallel_config.world_size, config.step_fresh_tokens)
            self._scheduler = SchedulerSide(
                engine_store(config), config.fingerprint, config.share_ceiling, admission
            )

    @property
    def requires_kv_delivery(self) -> bool:
        return False

    @property
    def worker_side(self) -> WorkerSide:
        if self._worker is None:
            raise RuntimeError("the worker side exists only in a worker, after attach")
        return self._worker

    @property
    def scheduler_side(self) -> SchedulerSide:
        if self._scheduler is None:
            raise RuntimeError("the scheduler side exists only in the scheduler")
        return self._scheduler

    @classmethod
    def requires_piecewise_for_cudagraph(cls, extra_config: dict[str, Any]) -> bool:  # noqa: ARG003
        return True

    def attach(self, runner: "GPUModelRunner") -> None:
        """The worker's model and pages are ready."""
        self._worker = WorkerSide(self._engine_config, self._vllm_config, runner, self._caches)

    def register_kv_caches(self, kv_caches: dict[str, "Tensor"]) -> None:
        self._caches = kv_caches

    def get_handshake_metadata(self) -> KVConnectorHandshakeMetadata:
        return FusionHandshake(self.worker_side.reason)

    def set_xfer_handshake_metadata_pp_aware(
        self, metadata: dict[tuple[int, int], KVConnectorHandshakeMetadata]
    ) -> None:
        reasons = [each.reason for each in metadata.values() if isinstance(each, FusionHandshake)]
        self.scheduler_side.fusion = bool(reasons) and not any(reasons)

    def bind_connector_metadata(self, connector_metadata: KVConnectorMetadata) -> None:
        super().bind_connector_metadata(connector_metadata)
        self.worker_side.begin_step(self._metadata)

    @property
    def _metadata(self) -> FusionMetadata:
        metadata = self._get_connector_metadata()
        if not isinstance(metadata, FusionMetadata):
            raise TypeError(f"expected FusionMetadata, not {type(metadata).__name__}")
        return metadata

    def start_load_kv(self, forward_context: "ForwardContext", **kwargs: Any) -> None:  # noqa: ARG002
        self.worker_side.load(self._metadata)

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Loads are complete when `start_load_kv` returns."""

    def save_kv_layer(self, layer_name: str, kv_layer: "Tensor", attn_metadata: object, **kwargs: Any) -> None:
        """Captures are taken where the pages are written."""

    def wait_for_save(self) -> None:
        self.worker_side.end_step()

    def get_finished(self, finished_req_ids: set[str]) -> tuple[set[str] | None, set[str] | None]:
        self.worker_side.finish(finished_req_ids)
        return None, None

    def shutdown(self) -> None:
        if self._worker is not None:
            self._worker.close()

    def build_connector_worker_meta(self) -> KVConnectorWorkerMetadata | None:
        ready = self.worker_side.newly_ready()
        return Fetches(ready) if ready else None

    def update_connector_output(self, connector_output: "KVConnectorOutput") -> None:
        if isinstance(connector_output.kv_connector_worker_meta, Fetches):
            self.scheduler_side.ready(connector_output.kv_connector_worker_meta.ready)

    def get_num_new_matched_tokens(self, request: "Request", num_computed_tokens: int) -> tuple[int | None, bool]:
        return self.scheduler_side.matched_tokens(request, num_computed_tokens), False

    def update_state_after_alloc(
        self, request: "Request", blocks: "KVCacheBlocks", num_external_tokens: int  # noqa: ARG002
    ) -> None:
        self.scheduler_side.commit(request, num_external_tokens)

    def build_connector_meta(self, scheduler_output: "SchedulerOutput") -> KVConnectorMetadata:
        return self.scheduler_side.metadata(scheduler_output)

    def request_finished(self, request: "Request", block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:  # noqa: ARG002
        self.scheduler_side.forget(request.request_id)
        return False, None
