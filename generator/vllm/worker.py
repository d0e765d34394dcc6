"""vLLM's worker of this platform, which hands its model to the connector and answers for it."""

from typing import TYPE_CHECKING, Any

import torch
from vllm.distributed.kv_transfer import get_kv_transfer_group
from vllm.platforms import current_platform

from generator.vllm.connector import FusionConnector

if TYPE_CHECKING or not current_platform.is_cpu():
    from vllm.v1.worker.gpu_worker import Worker as PlatformWorker
else:
    from vllm.v1.worker.cpu_worker import CPUWorker as PlatformWorker

if TYPE_CHECKING:
    from vllm.v1.kv_cache_interface import KVCacheConfig


class FusionWorker(PlatformWorker):
    def initialize_from_config(self, kv_cache_config: "KVCacheConfig") -> None:
        super().initialize_from_config(kv_cache_config)
        if torch.cpu._is_amx_tile_supported():  # noqa: SLF001 - there is no public way
            # Linux kills a process that uses these tiles before it has asked to, and vLLM's attention does not ask.
            torch.cpu._init_amx()  # noqa: SLF001
        self._connector().attach(self.model_runner)

    def preread_status(self) -> dict[str, Any]:
        return self._connector().worker_side.status()

    def preread_purge(self, tenant: str, keys: list[str]) -> None:
        """Drop chunk KV from every tier this worker sees, its memory above all."""
        self._connector().worker_side.purge(tenant, keys)

    def _connector(self) -> FusionConnector:
        connector = get_kv_transfer_group()
        if not isinstance(connector, FusionConnector):
            raise TypeError(f"FusionWorker needs the FusionConnector, not {type(connector).__name__}")
        return connector
