"""How many answers are made at once, who waits for a place, and who is sent away."""

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum

from app.core.codes import Code
from app.core.errors import Unavailable
from app.core.settings import Settings
from app.web.line import Line
from app.web.live.errors import ServiceStopping

_WINDOW_SECONDS = 10.0
_SOONEST_SECONDS, _LATEST_SECONDS = 1, 60
_REMEMBERED = 1000


class Refusal(StrEnum):
    """Why a question was sent away."""

    FULL = "full"
    WAITED = "waited"
    STOPPING = "stopping"


class Overloaded(Unavailable):
    """`retry_after_seconds`: when a place may be free, going by how many answers ended lately."""

    code = Code.OVERLOADED

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message, f"Ask again in {retry_after_seconds} seconds.")
        self.retry_after_seconds = retry_after_seconds


class Admission:
    """Places for answers, and the line before them, in which parties take turns. Belongs to one event loop.

        async with admission.place("default/key_1"):
            …

    `refused` counts since the start of the process.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._at_once = settings.answers_at_once
        self._waiting_seconds = settings.waiting_seconds
        self._clock = clock
        self._line: Line[asyncio.Future[None]] = Line(settings.answers_waiting)
        self._running = 0
        self._ended: deque[float] = deque(maxlen=_REMEMBERED)
        self._stopping = False
        self.refused: Counter[Refusal] = Counter()

    @property
    def running(self) -> int:
        return self._running

    @property
    def waiting(self) -> int:
        return len(self._line)

    @property
    def stopping(self) -> bool:
        return self._stopping

    @asynccontextmanager
    async def place(self, party: str) -> AsyncIterator[None]:
        """One place for as long as the block lasts. Raises Overloaded, ServiceStopping."""
        await self._enter(party)
        try:
            yield
        finally:
            self._ended.append(self._clock())
            self._pass_on()

    def stop(self) -> None:
        """Nobody gets a place any more, and those in line are sent away."""
        self._stopping = True
        while self._line:
            ticket = self._line.next()
            if not ticket.done():
                ticket.set_exception(self._refusal(Refusal.STOPPING))

    async def _enter(self, party: str) -> None:
        if self._stopping:
            raise self._refusal(Refusal.STOPPING)
        if self._running < self._at_once:
            self._running += 1
            return
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        gone = self._line.join(party, ticket)
        if gone is ticket:
            raise self._refusal(Refusal.FULL)
        if gone is not None and not gone.done():
            gone.set_exception(self._refusal(Refusal.FULL))
        try:
            async with asyncio.timeout(self._waiting_seconds):
                await ticket
        except TimeoutError:
            self._withdraw(party, ticket)
            raise self._refusal(Refusal.WAITED) from None
        except asyncio.CancelledError:
            self._withdraw(party, ticket)
            raise

    def _withdraw(self, party: str, ticket: "asyncio.Future[None]") -> None:
        """Leave the line; a place that came in the same moment goes to the next."""
        if ticket.done() and not ticket.cancelled() and ticket.exception() is None:
            self._pass_on()
        else:
            self._line.leave(party, ticket)

    def _pass_on(self) -> None:
        """Give a place that has become free to whoever is next."""
        while self._line:
            ticket = self._line.next()
            if not ticket.done():  # one that is has just been given up
                ticket.set_result(None)
                return
        self._running -= 1

    def _refusal(self, reason: Refusal) -> Unavailable:
        self.refused[reason] += 1
        if reason is Refusal.STOPPING:
            return ServiceStopping("Preread is being stopped.", "Ask again in a minute.")
        seconds = retry_after_seconds(self._ended, self._clock(), len(self._line) + 1)
        if reason is Refusal.WAITED:
            return Overloaded(f"No place for an answer was free within {self._waiting_seconds:g} s.", seconds)
        return Overloaded(f"{self._running} answers are being made and {len(self._line)} questions wait.", seconds)


def retry_after_seconds(ended: Sequence[float], now: float, ahead: int) -> int:
    """How long until `ahead` more have ended, at the rate of the last ten seconds: 1 to 60.

    Where none has ended in that time, ten.
    """
    lately = sum(now - moment <= _WINDOW_SECONDS for moment in ended)
    if not lately:
        return round(_WINDOW_SECONDS)
    return min(max(math.ceil(ahead * _WINDOW_SECONDS / lately), _SOONEST_SECONDS), _LATEST_SECONDS)


__all__ = ["Admission", "Overloaded", "Refusal", "retry_after_seconds"]
