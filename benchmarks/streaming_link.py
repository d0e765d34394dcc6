"""A tier behind a network that is not there: blobs in this process, each as late as a link would deliver it."""

import time
from collections.abc import Callable, Iterable, Iterator
from threading import Lock

from kvstore.tiers.base import Entry, TierStats


class Link:
    """One transfer at a time, each for as long as its bytes take.

    Args:
        bits_per_second: what is carried.
        sleep: waits for so many seconds.
    """

    def __init__(self, bits_per_second: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._bits_per_second = bits_per_second
        self._sleep = sleep
        self._lock = Lock()

    def carry(self, nbytes: int) -> None:
        with self._lock:
            self._sleep(8 * nbytes / self._bits_per_second)


class LinkedTier:
    """What is got from it comes over `link`; putting takes no time."""

    name = "link"
    shared = True
    writable = True
    slow = False

    def __init__(self, link: Link) -> None:
        self.link = link
        self._blobs: dict[tuple[str, str], bytes] = {}

    def get(self, tenant: str, key: str) -> bytes | None:
        data = self._blobs.get((tenant, key))
        if data is not None:
            self.link.carry(len(data))
        return data

    def peek(self, tenant: str, key: str) -> bytes | None:
        return self.get(tenant, key)

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:  # noqa: ARG002
        self._blobs[tenant, key] = bytes(data)

    def delete(self, tenant: str, key: str) -> bool:
        return self._blobs.pop((tenant, key), None) is not None

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        return {key for key in keys if (tenant, key) in self._blobs}

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        return {key: len(self._blobs[tenant, key]) for key in keys if (tenant, key) in self._blobs}

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        pass

    def release(self, reader: str) -> None:
        pass

    def entries(self) -> Iterator[Entry]:
        for (tenant, key), data in list(self._blobs.items()):
            yield Entry(tenant, key, len(data), None)

    def stats(self) -> TierStats:
        return TierStats(self.name, len(self._blobs), sum(map(len, self._blobs.values())), None)


__all__ = ["Link", "LinkedTier"]
