"""Writes that nobody waits for."""

import logging
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

logger = logging.getLogger(__name__)


class WriteBehind:
    """Does work in a thread of its own, in order. While `most` pieces wait, more are left out. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._waiting: dict[Future[None], Hashable] = {}
        self._thread: ThreadPoolExecutor | None = None

    def submit(self, name: Hashable, work: Callable[[], None]) -> bool:
        """Whether it will be done. `name` says what it writes."""
        with self._lock:
            if len(self._waiting) >= self._most:
                return False
            # Not before: a process may fork between being set up and reading its first blob.
            self._thread = self._thread or ThreadPoolExecutor(1, "preread-write-behind")
            future = self._thread.submit(_logged, work)
            self._waiting[future] = name
        future.add_done_callback(self._done)
        return True

    def settle(self) -> None:
        """Wait until all that was submitted so far is done."""
        with self._lock:
            waiting = list(self._waiting)
        wait(waiting)

    def cancel(self, names: Iterable[Hashable]) -> None:
        """Leave out what has not begun of these, and wait for what has."""
        unwanted = set(names)
        with self._lock:
            found = [future for future, name in self._waiting.items() if name in unwanted]
        wait([future for future in found if not future.cancel()])

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            del self._waiting[future]


def _logged(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:
        logger.exception("a write that nobody waits for failed")


__all__ = ["WriteBehind"]
