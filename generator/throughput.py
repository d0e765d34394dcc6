"""Throughput: how many bytes a second came through lately."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

_HALF_LIFE_SECONDS = 5.0
_FORGOTTEN_SECONDS = 60.0


@dataclass
class Throughput:
    """All bytes over all seconds, what is older counting for less. Thread-safe.

    What was last seen a minute ago is forgotten: whoever has stayed away from a slow link since would never learn that
    it has become faster.

    Args:
        clock: seconds, monotonic.
    """

    clock: Callable[[], float] = time.monotonic
    _bytes: float = field(default=0.0, init=False)
    _seconds: float = field(default=0.0, init=False)
    _seen: float = field(default=float("-inf"), init=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def observe(self, nbytes: int, seconds: float) -> None:
        """So many bytes have just taken so long."""
        now = self.clock()
        with self._lock:
            kept = 0.5 ** ((now - self._seen) / _HALF_LIFE_SECONDS)
            self._bytes = self._bytes * kept + nbytes
            self._seconds = self._seconds * kept + seconds
            self._seen = now

    @property
    def bytes_per_second(self) -> float | None:
        """None: nothing was seen, or not lately."""
        with self._lock:
            known = self._seconds > 0 and self.clock() - self._seen <= _FORGOTTEN_SECONDS
            return self._bytes / self._seconds if known else None


__all__ = ["Throughput"]
