"""Writes that nobody waits for."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

logger = logging.getLogger(__name__)


class WriteBehind:
    """Does work in a thread of its own, in order. While `most` pieces wait, more are left out. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._waiting: set[Future[None]] = set()
        self._thread: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], None]) -> bool:
        """Whether it will be done."""
        with self._lock:
            if len(self._waiting) >= self._most:
                return False
            # Not before: a process may fork between being set up and reading its first blob.
            self._thread = self._thread or ThreadPoolExecutor(1, "preread-write-behind")
            future = self._thread.submit(_logged, work)
            self._waiting.add(future)
        future.add_done_callback(self._done)
        return True

    def settle(self) -> None:
        """Wait until all that was submitted so far is done."""
        with self._lock:
            waiting = list(self._waiting)
        wait(waiting)

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            self._waiting.discard(future)


def _logged(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:
        logger.exception("a write that nobody waits for failed")


__all__ = ["WriteBehind"]
