"""A task's soft time limit as something that no `except Exception` takes for the document's fault."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """The task has had its time; its claim is given up on the way out."""


class _Deferral:
    active = False
    missed = False


def install() -> None:
    """In the main thread of a worker's process: let the signal of Celery's soft limit raise `OutOfTime`."""
    signal.signal(signal.SIGUSR1, _end)


@contextmanager
def deferred() -> Iterator[None]:
    """A block that the limit waits for: an import that is broken off leaves a process that can never make it again."""
    _Deferral.active = True
    try:
        yield
    finally:
        _Deferral.active = False
        missed, _Deferral.missed = _Deferral.missed, False
    if missed:
        raise OutOfTime


def _end(_signal: int, _frame: FrameType | None) -> None:
    if not _Deferral.active:
        raise OutOfTime
    _Deferral.missed = True
