"""The fastest tier: decoded chunk KV in this process's memory, ready to be placed."""

from collections import OrderedDict
from threading import Lock

from kvstore.chunk_kv import ChunkKV
from kvstore.identity import BlobIdentity
from kvstore.levels import at_all_levels


class DecodedChunks:
    """Up to `limit_bytes` of chunk KV that came verified out of the store; the least recently used go first.

    Unlike the other tiers it holds tensors, not blobs, so it stands before the store rather than in it: whoever
    deletes from the store deletes here too. Thread-safe.
    """

    name = "memory"

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._entries: OrderedDict[tuple[str, str], tuple[BlobIdentity, ChunkKV]] = OrderedDict()
        self._bytes = 0
        self._deletions = 0
        self._lock = Lock()

    @property
    def deletions(self) -> int:
        """How many times something was deleted."""
        return self._deletions

    @property
    def nbytes(self) -> int:
        return self._bytes

    def get(self, tenant: str, expected: BlobIdentity) -> ChunkKV | None:
        """What was put under this key, or None. Raises ForeignBlob when it is not what is wanted."""
        with self._lock:
            entry = self._entries.get((tenant, expected.key))
            if entry is None:
                return None
            self._entries.move_to_end((tenant, expected.key))
        identity, kv = entry
        identity.check(expected)
        return kv

    def put(self, tenant: str, identity: BlobIdentity, kv: ChunkKV, deletions: int) -> None:
        """Keep chunk KV; what alone is over the limit is not kept.

        `deletions` as they were before the store was asked: what was read before a deletion is not kept after it.
        """
        with self._lock:
            self._drop((tenant, identity.key))
            if kv.nbytes > self._limit_bytes or deletions != self._deletions:
                return
            self._entries[tenant, identity.key] = identity, kv
            self._bytes += kv.nbytes
            while self._bytes > self._limit_bytes:
                self._drop(next(iter(self._entries)))

    def delete(self, tenant: str, keys: list[str]) -> None:
        """Forget chunks at every level. Raises: BadName."""
        stored = at_all_levels(keys)
        with self._lock:
            self._deletions += 1
            for key in stored:
                self._drop((tenant, key))

    def _drop(self, name: tuple[str, str]) -> None:
        if name in self._entries:
            self._bytes -= self._entries.pop(name)[1].nbytes


__all__ = ["DecodedChunks"]
