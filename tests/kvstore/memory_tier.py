"""A tier in this process's memory, for tests of the store and as the third implementation of the tier contract."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from threading import Lock

from kvstore.errors import TooLarge
from kvstore.names import checked_key, checked_tenant
from kvstore.tiers.base import Entry, TierStats


class MemoryTier:
    """Up to `limit_bytes` of blobs; the least recently used go first."""

    name = "memory"
    shared = False
    writable = True
    slow = False

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._entries: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, tenant: str, key: str) -> bytes | None:
        entry = _entry(tenant, key)
        with self._lock:
            data = self._entries.get(entry)
            if data is not None:
                self._entries.move_to_end(entry)
            return data

    def peek(self, tenant: str, key: str) -> bytes | None:
        with self._lock:
            return self._entries.get(_entry(tenant, key))

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:
        entry = _entry(tenant, key)
        if len(data) > self._limit_bytes:
            raise TooLarge(f"{len(data)} bytes do not fit into the memory tier's {self._limit_bytes}.")
        own = bytes(data)
        with self._lock:
            self._drop(entry)
            self._entries[entry] = own
            self._bytes += len(own)
            while self._bytes > self._limit_bytes:
                self._drop(next(iter(self._entries)))

    def delete(self, tenant: str, key: str) -> bool:
        with self._lock:
            return self._drop(_entry(tenant, key))

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        with self._lock:
            return {key for key in keys if _entry(tenant, key) in self._entries}

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        with self._lock:
            return {key: len(self._entries[entry]) for key in keys if (entry := _entry(tenant, key)) in self._entries}

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        pass

    def release(self, reader: str) -> None:
        pass

    def entries(self) -> Iterator[Entry]:
        with self._lock:
            found = [Entry(tenant, key, len(data), None) for (tenant, key), data in self._entries.items()]
        yield from found

    def stats(self) -> TierStats:
        with self._lock:
            return TierStats(self.name, len(self._entries), self._bytes, self._limit_bytes)

    def _drop(self, entry: tuple[str, str]) -> bool:
        data = self._entries.pop(entry, None)
        self._bytes -= len(data or b"")
        return data is not None


def _entry(tenant: str, key: str) -> tuple[str, str]:
    return checked_tenant(tenant), checked_key(key)


__all__ = ["MemoryTier"]
