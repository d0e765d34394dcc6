"""The connector in the worker: owns the pages' layers, the fuser and the capturer."""

import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.budget import Budget
from generator.choosing import Chooser
from generator.engine_config import EngineConfig
from generator.fetching import Fetcher
from generator.vllm.capture import Capturer
from generator.vllm.drift import Drift
from generator.vllm.fuser import Fuser
from generator.vllm.loader import Loader
from generator.vllm.metadata import FusionMetadata
from generator.vllm.notes import Notes
from generator.vllm.pages import LayerPages
from generator.vllm.prefetch import Prefetcher
from generator.vllm.ranks import Ranks
from generator.vllm.recompute import Recompute
from generator.vllm.reporting import Reporter
from generator.vllm.rotary import Rotary, rotaries
from generator.vllm.selection import Selector, existing_layers
from generator.vllm.selftest import self_test
from generator.vllm.stores import engine_codecs, engine_store
from generator.vllm.supported import why_unsupported
from kvstore.decoded import DecodedChunks
from kvstore.errors import TierDown

if TYPE_CHECKING:
    from torch import Tensor
    from vllm.config import VllmConfig
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

log = logging.getLogger(__name__)


class WorkerSide:
    """Built once the model and its pages exist. `reason` says why this engine serves exactly; None: it fuses.

    With tensor parallelism every rank has one, and they agree about the reason.
    """

    def __init__(
        self, config: EngineConfig, vllm_config: "VllmConfig", runner: "GPUModelRunner", caches: dict[str, "Tensor"]
    ) -> None:
        block_size = vllm_config.cache_config.block_size
        ranks = Ranks.of_engine()
        kv_heads = vllm_config.model_config.get_total_num_kv_heads()
        store = engine_store(config)
        attention = vllm_config.compilation_config.static_forward_context
        self.reason = why_unsupported(vllm_config, {name: attention[name] for name in caches})
        self.layers: list[LayerPages] = []
        if self.reason is None:
            tables = rotaries(runner.model, caches)
            problems = [f"layer {name}: {table}" for name, table in tables.items() if not isinstance(table, Rotary)]
            self.layers = [
                LayerPages(name, attention[name], cache, table)
                for name, cache in caches.items()
                if isinstance(table := tables[name], Rotary)
            ]
            self.reason = problems[0] if problems else self_test(runner, self.layers, block_size)
        self.reason = ranks.any_reason(self.reason)
        if self.reason is None:
            log.info("chunk KV is fused: %d layers passed the self-test", len(self.layers))
        else:
            log.warning("chunk KV is not fused, every request is served exactly: %s", self.reason)
        self._notes = notes = Notes(config.notes_dir, quiet=not ranks.leads)
        self._reporter = Reporter(notes, len(caches))
        codecs = engine_codecs(config)
        codecs.prepare(config.fingerprint)
        decoded = DecodedChunks(config.kv_memory_bytes // ranks.size)
        shapes = [(kv_heads, layer.shape[1]) for layer in self.layers]
        budget = Budget(config.share_floor, config.share_ceiling)
        chooser = Chooser(store, decoded, config.load_deadline_seconds, lambda: budget.token_s)
        dtype = runner.kv_cache_dtype
        self._fetcher = Fetcher(store, codecs, decoded, shapes, ranks.heads(kv_heads), chooser, dtype)
        self._prefetcher = Prefetcher(self._fetcher)
        self._capturer = Capturer(
            self.layers, block_size, config.fingerprint, Path(config.staging_dir), notes, ranks, kv_heads
        )
        self._fuser: Fuser | None = None
        if self.reason is None:
            recompute = Recompute(runner, vllm_config, block_size)
            loader = Loader(self._prefetcher, self.layers, ranks, config.fingerprint, block_size)
            impact_layers = existing_layers(config.impact_layers, len(self.layers))
            selector = Selector(self.layers, recompute, ranks, impact_layers, config.hkvd_layer)
            drift = Drift(self.layers, block_size)
            self._fuser = Fuser(loader, selector, recompute, drift, budget, ranks, self._reporter)
        self._model_config = vllm_config.model_config
        self._fingerprint = config.fingerprint

    @property
    def fuser(self) -> Fuser:
        if self._fuser is None:
            raise RuntimeError(f"this engine does not fuse: {self.reason}")
        return self._fuser

    def begin_step(self, metadata: FusionMetadata) -> None:
        if self._fuser is not None:
            self._fuser.prefetch(metadata.prefetches)
            self._capturer.begin_step(metadata.captures)
            return
        for task in metadata.captures:
            self._notes.write_capture(task.request.request_id, f"this engine does not fuse: {self.reason}")

    def load(self, metadata: FusionMetadata) -> None:
        if self._fuser is not None:
            self._fuser.fuse(metadata.fusions)
            return
        for task in metadata.fusions:
            self._reporter.exact(task, str(self.reason))

    def end_step(self) -> None:
        self._capturer.end_step()

    def finish(self, request_ids: set[str]) -> None:
        self._capturer.finish(request_ids)
        self._prefetcher.forget(request_ids)

    def newly_ready(self) -> list[str]:
        """Waiting requests whose chunk KV has been fetched since this was last asked."""
        return self._prefetcher.newly_ready()

    @property
    def held_requests(self) -> int:
        """Waiting requests that chunk KV is held for."""
        return self._prefetcher.held

    @property
    def capturing(self) -> bool:
        """Whether any pre-read request is under way."""
        return self._capturer.busy

    def purge(self, tenant: str, keys: list[str]) -> None:
        """Drop chunk KV from memory, and from the other tiers as far as they answer: whoever asks empties those too."""
        with suppress(TierDown):
            self._fetcher.purge(tenant, keys)
        self._prefetcher.forget_all()

    def close(self) -> None:
        self._capturer.close()
        self._fetcher.close()

    def status(self) -> dict[str, Any]:
        """The fields of `generator.engine.EngineStatus`."""
        model = self._model_config
        return {
            "model": model.served_model_name if isinstance(model.served_model_name, str) else model.model,
            "fingerprint": self._fingerprint,
            "dtype": str(model.dtype).removeprefix("torch."),
            "max_model_tokens": model.max_model_len,
            "fusion": self.reason is None,
            "fusion_reason": self.reason,
        }
