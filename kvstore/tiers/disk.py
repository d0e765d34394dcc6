"""The tier that lasts: one file a blob under a folder that several processes may share.

`<folder>/<tenant>/<first two characters of the key>/<key>.kv`, whole or not there at all.
"""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kvstore.atomic_file import TEMPORARY_SUFFIX, replacing
from kvstore.errors import BadName, TierDown, TooLarge
from kvstore.eviction import Eviction
from kvstore.names import checked_key, checked_tenant
from kvstore.tiers.base import Entry, TierStats
from kvstore.tiers.disk_index import DiskIndex, Name

logger = logging.getLogger(__name__)

_LEFTOVER_NS = 10 * 60 * 10**9  # no write takes that long: its process is gone


class DiskTier:
    """Up to `limit_bytes` of blobs, whatever the number of processes; which go first `eviction` says.

    Args:
        folder: on a local file system, made if it does not exist; what crashed writers left in it is removed.
        limit_bytes: of all blobs of all tenants together.
        ttl_seconds: how long after it was put a blob is found; 0: always.
        clock_ns: nanoseconds since 1970; file times are set from it.
    Raises: TierDown when the folder cannot be used.
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
    ) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._clock_ns = clock_ns
        self._ttl_ns = int(ttl_seconds * 1e9)
        with self._answering():
            folder.mkdir(parents=True, exist_ok=True)
            self._sweep_leftovers()
            self._index = DiskIndex(folder / "index.db", limit_bytes, eviction, clock_ns)
            self._index.reconcile(dict(self._files()), self._remove)

    def get(self, tenant: str, key: str) -> bytes | None:
        data = self.peek(tenant, key)
        if data is not None:
            self._note_use((tenant, key))
        return data

    def peek(self, tenant: str, key: str) -> bytes | None:
        path = self._path(tenant, key)
        with self._answering():
            try:
                # Not mapped: that saves 1 ms of 12, but a failing disk would then kill the process in mid-decode.
                with path.open("rb") as file:
                    if self._expired(os.fstat(file.fileno()).st_mtime_ns):
                        return None
                    return file.read()
            except FileNotFoundError:
                return None

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:
        path = self._path(tenant, key)
        if len(data) > self._limit_bytes:
            raise TooLarge(f"{len(data)} bytes do not fit into the disk tier's {self._limit_bytes}.")
        with self._answering():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._index.reserve((tenant, key), len(data), len(data) if worth is None else worth, self._remove)
            try:
                with replacing(path) as temporary:
                    temporary.write_bytes(data)
                    now = self._clock_ns()
                    os.utime(temporary, ns=(now, now))
            finally:
                self._index.recount((tenant, key), lambda: _size(path))

    def delete(self, tenant: str, key: str) -> bool:
        path = self._path(tenant, key)
        with self._answering():
            found = _unlink(path)
            self._index.recount((tenant, key), lambda: _size(path))
        return found

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        return set(self.sizes(tenant, keys))

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        with self._answering():
            # Not by `_path`: a question asks for dozens, and building paths would take most of the time.
            folder = f"{self._folder}/{checked_tenant(tenant)}"
            found = {key: self._live_size(f"{folder}/{checked_key(key)[:2]}/{key}.kv") for key in keys}
        return {key: size for key, size in found.items() if size is not None}

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        with self._answering():
            self._index.lease([(tenant, checked_key(key)) for key in keys], reader, seconds)

    def release(self, reader: str) -> None:
        with self._answering():
            self._index.release(reader)

    def entries(self) -> Iterator[Entry]:
        with self._answering():
            for (tenant, key), (size, written_ns) in self._files():
                if not self._expired(written_ns):
                    yield Entry(tenant, key, size, written_ns / 1e9)

    def stats(self) -> TierStats:
        with self._answering():
            entries, nbytes = self._index.totals()
        return TierStats(self.name, entries, nbytes, self._limit_bytes)

    def close(self) -> None:
        with self._answering():
            self._index.close()

    def _path(self, tenant: str, key: str) -> Path:
        return self._folder / checked_tenant(tenant) / checked_key(key)[:2] / f"{key}.kv"

    def _remove(self, name: Name) -> bool:
        return _unlink(self._path(*name))

    def _expired(self, written_ns: int) -> bool:
        return bool(self._ttl_ns) and written_ns < self._clock_ns() - self._ttl_ns

    def _live_size(self, path: str) -> int | None:
        try:
            status = os.stat(path)  # noqa: PTH116 - making a path object takes longer than the call
        except FileNotFoundError:
            return None
        return None if self._expired(status.st_mtime_ns) else status.st_size

    def _note_use(self, name: Name) -> None:
        try:
            self._index.used(name)
        except sqlite3.Error as error:
            logger.warning("A use of %s was not noted: %s", name[1], error)

    def _files(self) -> Iterator[tuple[Name, tuple[int, int]]]:
        for path in self._folder.glob("*/??/*.kv"):
            name = (path.parent.parent.name, path.stem)
            try:
                if self._path(*name) == path:
                    status = path.stat()
                    yield name, (status.st_size, status.st_mtime_ns)
            except (BadName, FileNotFoundError):  # not one of ours; evicted by another process
                continue

    def _sweep_leftovers(self) -> None:
        for path in self._folder.glob(f"*/??/.*{TEMPORARY_SUFFIX}"):
            try:
                abandoned = path.stat().st_mtime_ns < self._clock_ns() - _LEFTOVER_NS
            except FileNotFoundError:  # its writer has just finished
                continue
            if abandoned and _unlink(path):
                logger.info("Removed %s, left by a crash.", path.name)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise TierDown(f"The disk tier fails: {error}", f"Check the folder {self._folder}.") from error


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _unlink(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


__all__ = ["DiskTier"]
