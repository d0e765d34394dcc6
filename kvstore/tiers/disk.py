"""The tier that lasts: one file a blob under a folder that several processes may share."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from kvstore.errors import TierDown, TooLarge
from kvstore.eviction import Eviction
from kvstore.names import checked_key, checked_tenant
from kvstore.tiers.base import Entry, TierStats
from kvstore.tiers.blob_files import BlobFiles
from kvstore.tiers.disk_errors import DISK_ERRORS, tier_down
from kvstore.tiers.disk_index import DiskIndex, Name
from kvstore.tiers.index_keeper import IndexKeeper

logger = logging.getLogger(__name__)


class DiskTier:
    """Up to `limit_bytes` of blobs, whatever the number of processes; which go first `eviction` says.

    Only what writes needs the index (`kvstore.tiers.index_keeper`). Without it, and on a disk that is full or
    read-only, blobs are found as ever; their uses are not noted.

    Args:
        folder: on a local file system, made if it does not exist; what crashed writers left in it is removed.
        limit_bytes: of all blobs of all tenants together.
        ttl_seconds: how long after it was put a blob is found; 0: always.
        read_only: whether the folder is left as it is, for `ReadOnlyTier`.
        clock_ns: nanoseconds since 1970; file times are set from it.
        monotonic: seconds.
    """

    name = "disk"
    shared = True
    writable = True
    slow = False

    def __init__(
        self,
        folder: Path,
        limit_bytes: int,
        clock_ns: Callable[[], int] = time.time_ns,
        *,
        eviction: Eviction = Eviction.VALUE,
        ttl_seconds: float = 0,
        read_only: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._clock_ns = clock_ns
        self._eviction = eviction
        self._read_only = read_only
        self._files = BlobFiles(folder, ttl_seconds, clock_ns)
        self._keeper = IndexKeeper(folder / "index.db", self._files.prepare, self._make_index, monotonic)
        self._uncounted: set[Name] = set()
        if not read_only:
            try:
                with self._indexed():
                    pass
            except TierDown as error:
                logger.warning("Nothing is stored on disk for now: %s %s", error, error.hint)

    def get(self, tenant: str, key: str) -> bytes | None:
        data = self.peek(tenant, key)
        if data is not None:
            self._note_use((tenant, key))
        return data

    def peek(self, tenant: str, key: str) -> bytes | None:
        with self._answering():
            return self._files.read((tenant, key))

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:
        name = checked_tenant(tenant), checked_key(key)
        if len(data) > self._limit_bytes:
            raise TooLarge(f"{len(data)} bytes do not fit into the disk tier's {self._limit_bytes}.")
        with self._indexed() as index:
            index.reserve(name, len(data), len(data) if worth is None else worth, self._files.remove)
        with self._answering():
            try:
                self._files.write(name, data)
            finally:
                self._recount(name)

    def delete(self, tenant: str, key: str) -> bool:
        with self._answering():
            found = self._files.remove((tenant, key))
        self._recount((tenant, key))
        return found

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        return set(self.sizes(tenant, keys))

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        with self._answering():
            return self._files.live_sizes(tenant, keys)

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        names = [(tenant, checked_key(key)) for key in keys]
        with self._indexed() as index:
            index.lease(names, reader, seconds)

    def release(self, reader: str) -> None:
        with self._indexed() as index:
            index.release(reader)

    def entries(self) -> Iterator[Entry]:
        with self._answering():
            yield from self._files.live()

    def stats(self) -> TierStats:
        """Without the index all files are looked at."""
        if not self._read_only:
            with suppress(TierDown), self._indexed() as index:
                return TierStats(self.name, *index.totals(), self._limit_bytes)
        sizes = [entry.nbytes for entry in self.entries()]
        return TierStats(self.name, len(sizes), sum(sizes), self._limit_bytes)

    def close(self) -> None:
        with self._answering():
            self._keeper.close()

    def _note_use(self, name: Name) -> None:
        if self._read_only:
            return
        try:
            with self._indexed() as index:
                index.used(name)
        except TierDown as error:
            logger.warning("A use of %s was not noted: %s", name[1], error)

    def _recount(self, name: Name) -> None:
        """At once, or before the index is used next."""
        self._uncounted.add(name)
        try:
            with self._indexed():
                pass
        except TierDown as error:
            logger.warning("%s is counted later: %s", name[1], error)

    def _make_index(self) -> DiskIndex:
        index = DiskIndex(self._folder / "index.db", self._limit_bytes, self._eviction, self._clock_ns)
        index.reconcile(dict(self._files.all()), self._files.remove)
        return index

    @contextmanager
    def _indexed(self) -> Iterator[DiskIndex]:
        with self._answering(), self._keeper.using() as index:
            for name in list(self._uncounted):
                index.recount(name, partial(self._files.size, name))
                self._uncounted.discard(name)
            yield index

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except DISK_ERRORS as error:
            raise tier_down(error, self._folder) from error


__all__ = ["DiskTier"]
