"""The index of a folder of blobs, opened when it is needed and again when it was lost."""

import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from kvstore.errors import TierDown
from kvstore.tiers.disk_errors import DISK_ERRORS, sqlite_code, tier_down
from kvstore.tiers.disk_index import DiskIndex

logger = logging.getLogger(__name__)

_PASSING = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL}
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_PAUSE_SECONDS = 1.0


class IndexKeeper:
    """Thread-safe. An index that could not be opened is not tried again for a second.

    Args:
        path: of the index; its folder is there by the time that it is opened.
        prepare: makes the folder usable. Raises: OSError.
        make: opens the index and brings it in line with the files. Raises: OSError, sqlite3.Error.
        monotonic: seconds.
    """

    def __init__(
        self,
        path: Path,
        prepare: Callable[[], object],
        make: Callable[[], DiskIndex],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._prepare = prepare
        self._make = make
        self._monotonic = monotonic
        self._lock = Lock()
        self._index: DiskIndex | None = None
        self._file: tuple[int, int] | None = None
        self._failure = ("", "")
        self._tried_at = float("-inf")

    @contextmanager
    def using(self) -> Iterator[DiskIndex]:
        """Use it inside; after an error of SQLite, other than that it is busy or the disk full, it is opened anew.

        Raises: TierDown where it cannot be opened; what is raised inside.
        """
        index = self._opened()
        try:
            yield index
        except sqlite3.Error as error:
            if sqlite_code(error) not in _PASSING:
                self._lose(index)
            raise

    def close(self) -> None:
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    def _opened(self) -> DiskIndex:
        with self._lock:
            # SQLite goes on with a file that is no longer there, where no other process sees what it counts.
            if self._index is not None and _identity(self._path) != self._file:
                self._drop(self._index)
            if self._index is None:
                if self._monotonic() < self._tried_at + _PAUSE_SECONDS:
                    raise TierDown(*self._failure)
                try:
                    self._index = self._open()
                except DISK_ERRORS as error:
                    down = tier_down(error, self._path.parent)
                    self._failure, self._tried_at = (down.message, down.hint), self._monotonic()
                    raise down from error
            return self._index

    def _open(self) -> DiskIndex:
        self._prepare()
        with _alone_in(self._path.parent):
            if _is_empty(self._path):
                self._remove()
            try:
                index = self._make()
            except sqlite3.Error as error:
                if sqlite_code(error) not in _DAMAGE:
                    raise
                logger.warning("The index %s is damaged and made anew: %s", self._path, error)
                self._remove()
                index = self._make()
            self._file = _identity(self._path)
        return index

    def _lose(self, index: DiskIndex) -> None:
        with self._lock:
            if self._index is index:
                self._drop(index)

    def _drop(self, index: DiskIndex) -> None:
        self._index = None
        with suppress(sqlite3.Error):
            index.close()

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """No other process opens this folder's index meanwhile: one that is made anew under another's hands is damaged."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _is_empty(path: Path) -> bool:
    """Also where there is none: what SQLite keeps beside it then belongs to one that was."""
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


__all__ = ["IndexKeeper"]
