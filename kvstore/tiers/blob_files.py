"""The files of a folder of blobs: `<folder>/<tenant>/<first two characters of the key>/<key>.kv`."""

import errno
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryFile

from kvstore.atomic_file import TEMPORARY_SUFFIX, remove_abandoned, replacing
from kvstore.errors import BadName
from kvstore.names import checked_key, checked_tenant
from kvstore.tiers.base import Entry
from kvstore.tiers.disk_index import Name

logger = logging.getLogger(__name__)

_LEFTOVER_NS = 10 * 60 * 10**9  # no write takes that long: its process is gone
_PROBE = bytes(4096)
_LEAST_FREE_BYTES = 16 * 2**20


class BlobFiles:
    """Each is whole or not there at all. Every method raises OSError when the disk fails.

    Args:
        ttl_seconds: how long after it was written a blob is found; 0: always.
        clock_ns: nanoseconds since 1970; file times are set from it.
    """

    def __init__(self, folder: Path, ttl_seconds: float, clock_ns: Callable[[], int]) -> None:
        self._folder = folder
        self._ttl_ns = int(ttl_seconds * 1e9)
        self._clock_ns = clock_ns

    def prepare(self) -> None:
        """Make the folder where it is not there, and remove what crashed writers left in it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if not os.access(self._folder, os.W_OK):
            raise PermissionError(errno.EACCES, "It cannot be written to", str(self._folder))
        for path in self._folder.glob(f"*/??/.*{TEMPORARY_SUFFIX}"):
            try:
                abandoned = path.stat().st_mtime_ns < self._clock_ns() - _LEFTOVER_NS
            except FileNotFoundError:  # its writer has just finished
                continue
            if abandoned and _unlink(path):
                logger.info("Removed %s, left by a crash.", path.name)

    def read(self, name: Name) -> bytes | None:
        try:
            # Not mapped: that saves 1 ms of 12, but a failing disk would then kill the process in mid-decode.
            with self._path(name).open("rb") as file:
                return None if self._expired(os.fstat(file.fileno()).st_mtime_ns) else file.read()
        except FileNotFoundError:
            return None

    def write(self, name: Name, data: bytes | memoryview) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_bytes(data)
            now = self._clock_ns()
            os.utime(temporary, ns=(now, now))

    def remove(self, name: Name) -> bool:
        """Whether it was there. What a killed process left of a write goes too."""
        path = self._path(name)
        remove_abandoned(path)
        return _unlink(path)

    def size(self, name: Name) -> int | None:
        """In bytes; also of one whose time is up."""
        try:
            return self._path(name).stat().st_size
        except FileNotFoundError:
            return None

    def live_sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        """Bytes of those of `keys` that `read` would find."""
        # Not by `_path`: a question asks for dozens, and building paths would take most of the time.
        folder = f"{self._folder}/{checked_tenant(tenant)}"
        found = {key: self._live_size(f"{folder}/{checked_key(key)[:2]}/{key}.kv") for key in keys}
        return {key: size for key, size in found.items() if size is not None}

    def live(self) -> Iterator[Entry]:
        """All that `read` would find."""
        for (tenant, key), (size, written_ns) in self.all():
            if not self._expired(written_ns):
                yield Entry(tenant, key, size, written_ns / 1e9)

    def all(self) -> Iterator[tuple[Name, tuple[int, int]]]:
        """Also those whose time is up, with their bytes and nanoseconds since 1970."""
        try:
            os.scandir(self._folder).close()  # `glob` takes a folder that cannot be read for an empty one
        except FileNotFoundError:
            return
        for path in self._folder.glob("*/??/*.kv"):
            name = (path.parent.parent.name, path.stem)
            try:
                if self._path(name) == path:
                    status = path.stat()
                    yield name, (status.st_size, status.st_mtime_ns)
            except (BadName, FileNotFoundError):  # not one of ours; evicted by another process
                continue

    def _path(self, name: Name) -> Path:
        tenant, key = name
        return self._folder / checked_tenant(tenant) / checked_key(key)[:2] / f"{key}.kv"

    def _expired(self, written_ns: int) -> bool:
        return bool(self._ttl_ns) and written_ns < self._clock_ns() - self._ttl_ns

    def _live_size(self, path: str) -> int | None:
        try:
            status = os.stat(path)  # noqa: PTH116 - making a path object takes longer than the call
        except FileNotFoundError:
            return None
        return None if self._expired(status.st_mtime_ns) else status.st_size


def probe_folder(folder: Path, *, read_only: bool) -> None:
    """Use the folder as the disk tier does, leaving nothing.

    Where it is not there yet, what it would be made in is tried.

    Raises: OSError where it cannot be used, or is all but full.
    """
    if read_only:
        os.scandir(folder).close()
        return
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    with TemporaryFile(dir=existing) as file:
        file.write(_PROBE)
        file.flush()
        os.fsync(file.fileno())
    free = shutil.disk_usage(existing).free
    if free < _LEAST_FREE_BYTES:
        raise OSError(errno.ENOSPC, f"Only {free / 2**20:.1f} MiB are left", str(existing))


def _unlink(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


__all__ = ["BlobFiles", "probe_folder"]
