"""Several calls under way at once, on threads of their own, so that one is computed while another is compressed."""

import time
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread
from types import TracebackType
from typing import Generic, Self, TypeVar

Name = TypeVar("Name")
Result = TypeVar("Result")

_ABANDON_SECONDS = 1.0


class Abandoned(Exception):
    """Whoever started the call has gone: it must not write anything any more."""


class InFlight(Generic[Name, Result]):
    """At most `most` calls at once. Belongs to one thread.

        with InFlight(3) as calls:
            calls.start("a", read_a)
            name, result = calls.landed()

    A block that is left early abandons what is under way: `check` then raises in the calls' own threads. They are
    waited for, but not for long, as a call may hang.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads: dict[Name, Thread] = {}
        self._landed: SimpleQueue[tuple[Name, Result | BaseException]] = SimpleQueue()
        self._abandoned = Event()

    def __len__(self) -> int:
        return len(self._threads)

    @property
    def full(self) -> bool:
        return len(self) >= self._most

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._abandoned.set()
        deadline = time.monotonic() + _ABANDON_SECONDS
        for thread in self._threads.values():
            thread.join(max(0.0, deadline - time.monotonic()))

    def start(self, name: Name, call: Callable[[], Result]) -> None:
        """`name`: hashable, and of no other call that is under way."""
        if name in self._threads:
            raise ValueError(f"{name} is under way already")
        thread = Thread(target=self._run, args=(name, call), name="in-flight", daemon=True)
        self._threads[name] = thread
        thread.start()

    def landed(self) -> tuple[Name, Result | BaseException]:
        """The next call that has ended, with its result or what it raised. Waits for it."""
        name, result = self._landed.get()
        self._threads.pop(name).join()
        return name, result

    def check(self) -> None:
        """For the calls. Raises Abandoned."""
        if self._abandoned.is_set():
            raise Abandoned

    def _run(self, name: Name, call: Callable[[], Result]) -> None:
        try:
            result: Result | BaseException = call()
        except BaseException as error:  # noqa: BLE001  (it is raised in the thread that asks)
            result = error
        self._landed.put((name, result))


__all__ = ["Abandoned", "InFlight"]
