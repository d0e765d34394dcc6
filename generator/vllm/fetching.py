"""Fetch: chunk KV out of the store, decoded, checked against the model's shape, and cut to this rank's heads."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from generator.vllm.pages import LayerPages
from generator.vllm.ranks import Ranks
from kvstore.chunk_kv import ChunkKV
from kvstore.decoded import DecodedChunks
from kvstore.errors import CorruptBlob, TierDown
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.reasons import StoreMiss
from kvstore.store import ChunkStore, Hit

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fetched:
    """What was found for one segment: `kv` with its reading and tier, or the reason why there is none."""

    kv: ChunkKV | None
    reading: Reading | None = None
    tier: str | None = None
    reason: str | None = None


class Fetcher:
    """Decodes several chunks at a time, on as many threads as the engine computes with.

    The store holds all of a layer's `kv_heads`; what is handed out and kept in memory are those of this rank.
    """

    def __init__(
        self, store: ChunkStore, decoded: DecodedChunks, layers: Sequence[LayerPages], ranks: Ranks, kv_heads: int
    ) -> None:
        self._store = store
        self._decoded = decoded
        self._shapes = [(kv_heads, layer.shape[1]) for layer in layers]
        self._share = ranks.heads(kv_heads)
        self._pool = ThreadPoolExecutor(torch.get_num_threads(), "preread-decode")

    def fetch(self, tenant: str, wanted: Sequence[Sequence[BlobIdentity]]) -> list[Fetched]:
        """For each segment the first of its identities that the store has whole."""
        return list(self._pool.map(lambda candidates: self._first(tenant, candidates), wanted))

    def purge(self, tenant: str, keys: list[str]) -> None:
        """Forget chunk KV here and in the store. Raises TierDown when a tier does not answer."""
        self._decoded.delete(tenant, keys)
        self._store.delete(tenant, keys)

    def close(self) -> None:
        self._pool.shutdown()

    def _first(self, tenant: str, candidates: Sequence[BlobIdentity]) -> Fetched:
        fetched = Fetched(None, reason=StoreMiss.ABSENT)
        for identity in candidates:
            fetched = self._get(tenant, identity)
            if fetched.kv is not None:
                break
        return fetched

    def _get(self, tenant: str, identity: BlobIdentity) -> Fetched:
        held = self._decoded.get(tenant, identity)
        if held is not None:
            return Fetched(held, identity.reading, self._decoded.name)
        deletions = self._decoded.deletions
        found = self._store.get(tenant, identity)
        if not isinstance(found, Hit):
            return Fetched(None, reason=found.reason)
        try:
            kv = found.blob.decode()
        except CorruptBlob as error:
            return self._drop(tenant, identity, error.message)
        if not self._fits(kv):
            return self._drop(tenant, identity, "it does not have this model's shape")
        share = self._cut(kv)
        self._decoded.put(tenant, found.blob.identity, share, deletions)
        return Fetched(share, identity.reading, found.tier)

    def _drop(self, tenant: str, identity: BlobIdentity, why: str) -> Fetched:
        log.warning("dropping chunk KV %s: %s", identity.key, why)
        try:
            self._store.delete(tenant, [identity.key])
        except TierDown as error:
            log.warning("chunk KV %s is still in a tier that is down: %s", identity.key, error.message)
        return Fetched(None, reason=StoreMiss.CORRUPT)

    def _fits(self, kv: ChunkKV) -> bool:
        return [tuple(keys.shape[1:]) for keys in kv.keys] == self._shapes

    def _cut(self, kv: ChunkKV) -> ChunkKV:
        """This rank's heads in memory of their own, so that the others' are freed."""
        return ChunkKV(
            tuple(keys[:, self._share].contiguous() for keys in kv.keys),
            tuple(values[:, self._share].contiguous() for values in kv.values),
        )
