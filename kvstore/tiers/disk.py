"""The tier that lasts: one file a blob under a folder that several processes may share.

`<folder>/<tenant>/<first two characters of the key>/<key>.kv`, whole or not there at all.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import utime
from pathlib import Path
from threading import Lock

from kvstore.atomic_file import TEMPORARY_SUFFIX, replacing
from kvstore.errors import TierDown, TooLarge
from kvstore.names import checked_key, checked_tenant
from kvstore.tiers.base import TierStats

logger = logging.getLogger(__name__)

_LEFTOVER_NS = 10 * 60 * 10**9  # no write takes that long: its process is gone
_EVICT_TO = 0.9
_RECOUNT_AFTER = 1 / 32


class DiskTier:
    """Up to `limit_bytes` of blobs; the least recently read or written go first.

    Processes do not know of each other's writes. Each counts the folder anew whenever it has itself written a 32nd of
    the limit, so the limit may be exceeded by that much for every writing process.

    Args:
        folder: made if it does not exist; what crashed writers left in it is removed.
        limit_bytes: of all blobs of all tenants together.
        clock_ns: nanoseconds since 1970; file times are set from it.
    Raises: TierDown when the folder cannot be used.
    """

    name = "disk"
    shared = True

    def __init__(self, folder: Path, limit_bytes: int, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._clock_ns = clock_ns
        self._lock = Lock()
        self._bytes_until_recount = 0
        with self._answering():
            folder.mkdir(parents=True, exist_ok=True)
            self._sweep_leftovers()

    def get(self, tenant: str, key: str) -> bytes | None:
        path = self._path(tenant, key)
        with self._answering():
            try:
                # Not mapped: that saves 1 ms of 12, but a failing disk would then kill the process in mid-decode.
                data = path.read_bytes()
                self._touch(path)
            except FileNotFoundError:
                return None
            return data

    def put(self, tenant: str, key: str, data: bytes | memoryview) -> None:
        path = self._path(tenant, key)
        if len(data) > self._limit_bytes:
            raise TooLarge(f"{len(data)} bytes do not fit into the disk tier's {self._limit_bytes}.")
        with self._answering():
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary:
                temporary.write_bytes(data)
                self._touch(temporary)
            self._make_room(len(data))

    def delete(self, tenant: str, key: str) -> bool:
        path = self._path(tenant, key)
        with self._answering():
            return _unlink(path)

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        with self._answering():
            return {key for key in keys if self._path(tenant, key).is_file()}

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        with self._answering():
            found = {key: _size(self._path(tenant, key)) for key in keys}
        return {key: size for key, size in found.items() if size is not None}

    def stats(self) -> TierStats:
        with self._answering():
            sizes = [blob.size for blob in self._blobs()]
        return TierStats(self.name, len(sizes), sum(sizes), self._limit_bytes)

    def _path(self, tenant: str, key: str) -> Path:
        return self._folder / checked_tenant(tenant) / checked_key(key)[:2] / f"{key}.kv"

    def _touch(self, path: Path) -> None:
        now = self._clock_ns()
        utime(path, ns=(now, now))

    def _make_room(self, written: int) -> None:
        with self._lock:
            self._bytes_until_recount -= written
            if self._bytes_until_recount > 0:
                return
            blobs = sorted(self._blobs(), key=lambda blob: blob.used_ns)
            total = sum(blob.size for blob in blobs)
            if total > self._limit_bytes:
                for blob in blobs:
                    if total <= self._limit_bytes * _EVICT_TO:
                        break
                    _unlink(blob.path)
                    total -= blob.size
            self._bytes_until_recount = min(self._limit_bytes - total, int(self._limit_bytes * _RECOUNT_AFTER))

    def _blobs(self) -> Iterator["_StoredBlob"]:
        for path in self._folder.glob("*/??/*.kv"):
            try:
                status = path.stat()
            except FileNotFoundError:  # another process evicted it
                continue
            yield _StoredBlob(path, status.st_size, status.st_mtime_ns)

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
        except OSError as error:
            raise TierDown(f"The disk tier fails: {error}", f"Check the folder {self._folder}.") from error


@dataclass(frozen=True)
class _StoredBlob:
    path: Path
    size: int
    used_ns: int


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
