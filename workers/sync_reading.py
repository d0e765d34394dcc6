"""Reading a file of a folder that others write to."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import BinaryIO, TypeVar

from app.core.codes import Code
from app.core.errors import BadInput
from workers.sync_scan import FolderFile

T = TypeVar("T")


class Unsteady(BadInput):
    """The file changed while it was read, is gone, or leads out of the folder now: it is taken another time."""

    code = Code.CHANGING


class UnreadableFile(BadInput):
    code = Code.UNREADABLE


def read_steady(root: Path, path: str, read: Callable[[BinaryIO], T]) -> tuple[T, FolderFile]:
    """What `read` makes of the file, and size and time that the file had both before and after.

    Raises: Unsteady, UnreadableFile, and what `read` raises.
    """
    with _opened(root, path) as file:
        before = _status(file)
        made = read(file)
        if _status(file) != before:
            raise Unsteady(f"{path} changed while it was read.", "It is taken by the next sync.")
    return made, before


@contextmanager
def _opened(root: Path, path: str) -> Iterator[FileIO]:
    try:
        # Not blocking: what was a file a moment ago may be a pipe by now.
        descriptor = os.open(root / path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise Unsteady(f"{path} is gone.") from error
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}.", "May the worker read it?") from error
    with FileIO(descriptor) as file:
        opened = Path(f"/proc/self/fd/{descriptor}").resolve()
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or not opened.is_relative_to(root.resolve()):
            raise Unsteady(f"{path} is no file of this folder any more.")
        yield file


def _status(file: FileIO) -> FolderFile:
    status = os.fstat(file.fileno())
    return FolderFile(status.st_size, status.st_mtime_ns)
