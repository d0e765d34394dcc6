"""Fetch: chunk KV out of the store, decoded, checked against the model's shape, and cut to this rank's heads.

    for each in fetcher.fetch(tenant, wanted):    # returns at once
        each.found()                              # waits for the store
        each.has(0)                               # waits until the first layer is decoded
        each.whole()                              # waits for all of them

One thread takes chunks out of the store, in order; others decode what has come, so that a chunk is decoded while the
next is fetched.
"""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import torch

from generator.arriving import Arriving, Begun, Fetched, Wanted
from generator.choosing import Chooser
from generator.decoding import Decoding
from kvstore.blob import Blob
from kvstore.codecs.base import sixteen_bits
from kvstore.codecs.codecs import Codecs
from kvstore.decoded import DecodedChunks
from kvstore.errors import CorruptBlob, StaleProfile, TierDown
from kvstore.identity import BlobIdentity
from kvstore.levels import Level, at_level
from kvstore.reasons import StoreMiss
from kvstore.store import ChunkStore, Hit

log = logging.getLogger(__name__)

_LEASE_SECONDS = 30.0  # what a question waits for at most, and more
_ABSENT = Fetched(None, reason=StoreMiss.ABSENT)


class Fetcher:
    """Decodes on as many threads as the engine computes with, each chunk in as many parts of its layers, two at least:
    so all threads are at the chunk that comes last, and smaller parts cost more than they bring where nothing is waited
    for.

    Args:
        shapes: (kv_heads, head_dim) of each of the model's layers, with the heads of all ranks.
        share: which of those heads this rank has; these alone are handed out and kept in memory.
        chooser: says at which levels each chunk is looked for.
        dtype: what the model's pages hold. Blobs hold that, its 16-bit form, or float32.
    """

    def __init__(
        self,
        store: ChunkStore,
        codecs: Codecs,
        decoded: DecodedChunks,
        shapes: Sequence[tuple[int, int]],
        share: slice,
        chooser: Chooser,
        dtype: torch.dtype,
    ) -> None:
        self._store = store
        self._codecs = codecs
        self._decoded = decoded
        self._shapes = list(shapes)
        self._share = share
        self._chooser = chooser
        self._dtypes = {dtype, sixteen_bits(dtype), torch.float32}
        self._threads = torch.get_num_threads()
        self._fetching = ThreadPoolExecutor(1, "preread-fetch")
        self._decoding = ThreadPoolExecutor(self._threads, "preread-decode")

    def fetch(self, tenant: str, wanted: Sequence[Wanted]) -> list[Arriving]:
        """Begin to fetch, for each segment, the first of its identities that the store has whole."""
        levels = self._chooser.begin(tenant, wanted)
        held = [self._held(tenant, each.identities[0]) if each.identities else None for each in wanted]
        keys = {
            identity.key
            for each, found in zip(wanted, held, strict=True)
            if found is None
            for identity in each.identities
        }
        if not keys:
            return [Arriving.at_once(found or _ABSENT) for found in held]
        leased = self._fetching.submit(self._lease, tenant, keys)
        arriving = [
            Arriving.at_once(found or _ABSENT)
            if found is not None or not each.identities
            else Arriving(self._fetching.submit(self._first, tenant, each.identities, partial(levels.of, number)))
            for number, (each, found) in enumerate(zip(wanted, held, strict=True))
        ]
        self._fetching.submit(self._release, leased)  # behind them, on the one thread that fetches
        return arriving

    def purge(self, tenant: str, keys: list[str]) -> None:
        """Forget chunk KV here and in the store. Raises TierDown when a tier does not answer."""
        self._decoded.delete(tenant, keys)
        self._store.delete(tenant, keys)

    def close(self) -> None:
        self._fetching.shutdown(cancel_futures=True)
        self._decoding.shutdown()

    def _lease(self, tenant: str, keys: set[str]) -> str | None:
        try:
            return self._store.lease(tenant, keys, _LEASE_SECONDS)
        except Exception:
            log.exception("what is about to be fetched is not leased")
            return None

    def _release(self, leased: Future[str | None]) -> None:
        reader = leased.result()
        try:
            if reader is not None:
                self._store.release(reader)
        except Exception:
            log.exception("a lease lasts until its time is up")

    def _held(self, tenant: str, identity: BlobIdentity) -> Fetched | None:
        kv = self._decoded.get(tenant, identity)
        return None if kv is None else Fetched(kv, identity.reading, self._decoded.name)

    def _first(self, tenant: str, identities: Sequence[BlobIdentity], choose: Callable[[], Sequence[Level]]) -> Begun:
        begun = Begun(_ABSENT)
        try:
            levels = choose()
            if not levels:
                return Begun(Fetched(None, reason=StoreMiss.LOAD_TIMEOUT))
            for identity in identities:
                begun = self._at_some_level(tenant, identity, levels)
                if begun.fetched.kv is not None:
                    break
        except Exception:
            log.exception("chunk KV %s could not be fetched", identities[0].key)
        return begun

    def _at_some_level(self, tenant: str, identity: BlobIdentity, levels: Sequence[Level]) -> Begun:
        """At the first level that there is; the miss is that of the first."""
        best = self._begin(tenant, at_level(identity, levels[0]))
        begun = best
        for level in levels[1:]:
            if begun.fetched.kv is not None:
                break
            begun = self._begin(tenant, at_level(identity, level))
        return best if begun.fetched.kv is None else begun

    def _begin(self, tenant: str, identity: BlobIdentity) -> Begun:
        held = self._held(tenant, identity)
        if held is not None:
            return Begun(held)
        deletions = self._decoded.deletions
        asked = time.perf_counter()
        found = self._store.get(tenant, identity)
        if not isinstance(found, Hit):
            return Begun(Fetched(None, reason=found.reason))
        self._chooser.saw_fetched(found.tier, len(found.blob.data), time.perf_counter() - asked)
        try:
            decoding = self._prepare(found.blob)
        except (CorruptBlob, StaleProfile) as error:
            return Begun(self._drop(tenant, identity, error))
        fetched = Fetched(decoding.kv, identity.reading, found.tier)
        layers = range(found.blob.n_layers)
        at_a_time = -(-len(layers) // max(self._threads, 2))
        groups = [layers[first : first + at_a_time] for first in layers[::at_a_time]]
        parts = [self._decoding.submit(decoding.decode, group) for group in groups]
        # Behind its parts, in the same queue: once it runs, they run or have ended.
        whole = self._decoding.submit(self._end, tenant, found.blob, fetched, parts, deletions)
        return Begun(fetched, tuple(parts[layer // at_a_time] for layer in layers), whole)

    def _prepare(self, blob: Blob) -> Decoding:
        """Raises: CorruptBlob where it is not this model's, StaleProfile."""
        if not blob.dtypes <= self._dtypes:
            raise CorruptBlob("It does not have this model's precision.")
        decoding = Decoding.of(blob, self._codecs.of(blob), self._share)
        if decoding.shapes != self._shapes:
            raise CorruptBlob("It does not have this model's shape.")
        return decoding

    def _end(
        self, tenant: str, blob: Blob, fetched: Fetched, parts: Sequence[Future[float]], deletions: int
    ) -> Fetched:
        for part in parts:
            error = part.exception()
            if isinstance(error, CorruptBlob):
                return self._drop(tenant, blob.identity, error)
            if error is not None:
                log.error("chunk KV %s could not be decoded", blob.identity.key, exc_info=error)
                return Fetched(None, reason=StoreMiss.CORRUPT)
        self._chooser.saw_decoded(len(blob.data), sum(part.result() for part in parts) / self._threads)
        if fetched.kv is not None:
            self._decoded.put(tenant, blob.identity, fetched.kv, deletions)
        return fetched

    def _drop(self, tenant: str, identity: BlobIdentity, error: CorruptBlob | StaleProfile) -> Fetched:
        log.warning("dropping chunk KV %s: %s", identity.key, error.message)
        try:
            self._store.delete(tenant, [identity.key])
        except TierDown as down:
            log.warning("chunk KV %s is still in a tier that is down: %s", identity.key, down.message)
        return Fetched(None, reason=StoreMiss.STALE_PROFILE if isinstance(error, StaleProfile) else StoreMiss.CORRUPT)


__all__ = ["Fetcher"]
