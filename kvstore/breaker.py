"""Leaving a far side alone while it does not answer, so that waiting for it does not stall every question."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from kvstore.errors import TierDown


class Breaker:
    """Thread-safe. A far side that was silent is not asked for a while; then one caller tries, and the others wait on.

        with breaker.asking():
            client.get(name)

    Args:
        name, hint: of the far side, for the TierDown of those who may not ask.
        is_silence: whether an exception raised in `asking` means that no answer came. Any other one is an answer.
        pause_seconds: after the first silence; doubled by every further one.
        longest_pause_seconds: what the doubling ends at.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        name: str,
        hint: str,
        is_silence: Callable[[Exception], bool],
        *,
        pause_seconds: float,
        longest_pause_seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._hint = hint
        self._is_silence = is_silence
        self._first_pause = pause_seconds
        self._longest_pause = longest_pause_seconds
        self._clock = clock
        self._lock = Lock()
        self._pause = 0.0  # seconds; 0 while the far side answers
        self._ends_at = 0.0
        self._probing = False

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask the far side inside. Raises: TierDown, at once, while it is left alone; what is raised inside."""
        probing = self._admit()
        try:
            yield
        except Exception as error:
            if self._is_silence(error):
                self._open(probing)
            else:
                self._close()
            raise
        else:
            self._close()
        finally:
            if probing:
                self._probing = False

    def _admit(self) -> bool:
        """Whether the caller is the one who tries after a pause."""
        with self._lock:
            if not self._pause:
                return False
            if self._probing or self._clock() < self._ends_at:
                raise TierDown(f"{self._name} did not answer a moment ago.", self._hint)
            self._probing = True
            return True

    def _open(self, probing: bool) -> None:
        with self._lock:
            if self._pause and not probing:  # asked before the pause began: the same silence, told again
                return
            self._pause = min(2 * self._pause or self._first_pause, self._longest_pause)
            self._ends_at = self._clock() + self._pause

    def _close(self) -> None:
        with self._lock:
            self._pause = 0.0


__all__ = ["Breaker"]
