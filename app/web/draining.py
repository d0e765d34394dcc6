"""The end of a process: what runs is given some time, and no more."""

import threading
import time
from collections.abc import Callable


class Draining:
    """Asked once, answers that run have `seconds` more; asked again, none."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._deadline: float | None = None
        self._begun = threading.Event()

    def ask(self) -> None:
        """May be called from a signal's handler."""
        self._deadline = self._clock() + (self._seconds if self._deadline is None else 0)
        self._begun.set()

    @property
    def begun(self) -> bool:
        return self._begun.is_set()

    def over(self, running: int) -> bool:
        """Whether nothing runs any more, or its time is up."""
        return self._deadline is not None and (running == 0 or self._clock() >= self._deadline)

    def wait_until_begun(self) -> None:
        """Blocking."""
        self._begun.wait()

    def overdue(self, grace_seconds: float) -> bool:
        """Whether the time of what runs was up so long ago."""
        return self._deadline is not None and self._clock() >= self._deadline + grace_seconds
