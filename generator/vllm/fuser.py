"""Fusion of one request: load, select, recompute, report."""

import logging
import time
from collections.abc import Sequence

from generator.fusion_request import SegmentKind
from generator.identity import segment_identities
from generator.plan import LoadedSegment, fresh_positions
from generator.policy import Policy, PolicyName, parse_policy
from generator.report import ChunkOutcome, FusionReport
from generator.vllm.loading import Placed, write_chunks
from generator.vllm.metadata import FusionTask
from generator.vllm.notes import Notes
from generator.vllm.pages import LayerPages
from generator.vllm.recompute import Recompute
from kvstore.chunk_kv import ChunkKV
from kvstore.errors import CorruptBlob
from kvstore.identity import BlobIdentity
from kvstore.store import ChunkStore, Hit

log = logging.getLogger(__name__)


class Fuser:
    """Fills the promised positions of a request before vLLM goes on with its question."""

    def __init__(
        self,
        store: ChunkStore,
        layers: Sequence[LayerPages],
        recompute: Recompute,
        notes: Notes,
        fingerprint: str,
        block_size: int,
        not_fused: str | None,
    ) -> None:
        self._store = store
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
        loaded: list[LoadedSegment] = []
        placed: list[Placed] = []
        outcomes: list[ChunkOutcome] = []
        identities = segment_identities(task.request, task.token_ids, self._fingerprint)
        for segment, candidates, missed in zip(task.request.segments, identities, task.missed, strict=True):
            kv: ChunkKV | None = None
            reading = tier = None
            reason = missed or "absent"
            if task.start < segment.end <= task.end and missed is None:
                for identity in candidates:
                    kv, tier, reason = self._get(task.request.tenant, identity)
                    if kv is not None:
                        reading = identity.reading
                        placed.append(Placed(segment, kv))
                        break
            if segment.end > task.start and segment.start < task.end:
                loaded.append(LoadedSegment(segment, reading))
            if segment.kind is SegmentKind.CHUNK:
                ordinal = len(outcomes)
                outcomes.append(
                    ChunkOutcome(ordinal, segment.n_tokens, tier=tier)
                    if kv is not None
                    else ChunkOutcome(ordinal, segment.n_tokens, reason=reason)
                )
        return loaded, placed, outcomes

    def _get(self, tenant: str, identity: BlobIdentity) -> tuple[ChunkKV | None, str | None, str]:
        found = self._store.get(tenant, identity)
        if not isinstance(found, Hit):
            return None, None, str(found.reason)
        try:
            kv = found.blob.decode()
        except CorruptBlob as error:
            log.warning("chunk KV %s is corrupt and was dropped: %s", identity.key, error.message)
            self._store.delete(tenant, [identity.key])
            return None, None, "corrupt"
        if not self._fits(kv):
            log.warning("chunk KV %s does not have this model's shape and was dropped", identity.key)
            self._store.delete(tenant, [identity.key])
            return None, None, "corrupt"
        return kv, found.tier, ""

    def _fits(self, kv: ChunkKV) -> bool:
        return kv.n_layers == len(self._layers) and all(
            tuple(keys.shape[1:]) == layer.shape for keys, layer in zip(kv.keys, self._layers, strict=True)
        )
