"""One `preread up` per state folder. The kernel drops the lock when its holder ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.cli.errors import AlreadyRunning, UnusableFolder


def lock_path(state_dir: Path) -> Path:
    return state_dir / "run" / "up.lock"


@contextmanager
def hold_state(state_dir: Path) -> Iterator[None]:
    """Raises AlreadyRunning when another process holds the folder, UnusableFolder when it cannot be written to."""
    path = lock_path(state_dir)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise UnusableFolder(
            f"{state_dir} cannot be used: {error.strerror}.", "Set PREREAD_STATE_DIR to a folder you may write to."
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 20).decode().strip()
            raise AlreadyRunning(
                f"Preread is already running on {state_dir} (process {holder}).",
                "Use it, stop it with Ctrl-C where it runs, or set PREREAD_STATE_DIR to another folder.",
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def holder_of(state_dir: Path) -> int | None:
    """Process id of the `preread up` that runs on this folder, if one does."""
    try:
        descriptor = os.open(lock_path(state_dir), os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.read(descriptor, 20).decode() or 0) or None
    finally:
        os.close(descriptor)
    return None
