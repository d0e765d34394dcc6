"""Files that are either whole or not there."""

import fcntl
import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TEMPORARY_SUFFIX = ".tmp"


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """A temporary path to write to; when the block ends well, it becomes `path`, at once.

    The temporary file lies beside `path` and ends in `TEMPORARY_SUFFIX`; only a crash leaves it behind, for
    `remove_abandoned` to find. Unless `durable`, a machine that loses power soon after may have a damaged `path`.

    Raises: OSError.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
    with _locked(temporary):
        try:
            yield temporary
            if durable:
                _sync(temporary)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    if durable:
        _sync(path.parent)


def temporaries(path: Path) -> list[Path]:
    """What is being written, or was when its writer ended, to become `path`."""
    return list(path.parent.glob(f".{glob.escape(path.name)}.*{TEMPORARY_SUFFIX}"))


def remove_abandoned(path: Path) -> None:
    """Remove the temporary files for `path` whose writers have ended, however they did. Raises: OSError."""
    for temporary in temporaries(path):
        try:
            descriptor = os.open(temporary, os.O_RDONLY)
        except FileNotFoundError:  # its writer has just finished
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            temporary.unlink(missing_ok=True)
        except OSError:  # its writer lives, or nobody can tell on this file system
            continue
        finally:
            os.close(descriptor)


@contextmanager
def _locked(temporary: Path) -> Iterator[None]:
    """Made, and locked until the block ends; the kernel drops the lock of a process that is killed."""
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


__all__ = ["TEMPORARY_SUFFIX", "remove_abandoned", "replacing", "temporaries"]
