"""Turns: whether the coming step pre-reads, and how much of it, where an engine also answers questions."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

_QUIET_SECONDS = 60.0
_LONGEST_HELD_SECONDS = 2.0
_PAUSE_FOR_ANSWERS = 2.0  # in the time of the last step that pre-read


@dataclass(frozen=True)
class Turn:
    """`tokens`: most that the step may pre-read; None: as many as it holds."""

    reads: bool
    tokens: int | None


@dataclass
class Turns:
    """Pre-reading has the engine to itself until a question comes.

    It stands still until the question's first token, two seconds at most. While answers are being written it gets about
    a third of the time. Within a minute of a question its steps are small, since the next one waits for a step's end.
    """

    step_tokens: int
    clock: Callable[[], float] = time.monotonic
    _asked: float = field(default=-inf, init=False)
    _held_since: float | None = field(default=None, init=False)
    _began: float | None = field(default=None, init=False)
    _lasted: float = field(default=0.0, init=False)

    def next(self, *, starting: bool, answering: bool, wanted: bool) -> Turn:
        """Call before every step.

        Args:
            starting: a question has no first token yet. answering: one is being answered.
            wanted: there is something to pre-read.
        """
        now = self.clock()
        if self._began is not None:
            self._lasted, self._began = now - self._began, None
        if starting or answering:
            self._asked = now
        pause = _LONGEST_HELD_SECONDS if starting else 0.0
        if answering and not starting:  # the engine may have been idle since the last step
            pause = min(_PAUSE_FOR_ANSWERS * self._lasted, _LONGEST_HELD_SECONDS)
        if self._held_since is None:
            self._held_since = now
        reads = wanted and now - self._held_since >= pause
        if reads:
            self._began = now
        if reads or not wanted:
            self._held_since = None
        return Turn(reads, self.step_tokens if now - self._asked < _QUIET_SECONDS else None)
