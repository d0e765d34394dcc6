"""One answer while it is being made: whoever follows it, and what ends it early."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol

from app.web.asked import Asked
from app.web.live.errors import ServiceStopping
from app.web.live.log import EventLog
from app.web.problems import problem_of
from app.web.stream import Event, Numbered

log = logging.getLogger(__name__)

Producer = Callable[[asyncio.Event], AsyncGenerator[Event]]
"""Makes the events, the last of them terminal; the event that it is given ends it early."""


class Keeper(Protocol):
    """Is told what becomes of an answer."""

    def begun(self, answer: "LiveAnswer") -> None: ...

    def happened(self, answer: "LiveAnswer", number: int, event: Event) -> None: ...


class LiveAnswer:
    """Made by a task of its own from the moment that somebody follows it.

    When its last reader leaves it is stopped: at once, or if it is resumable, when nobody has come back for so long.
    """

    def __init__(
        self, asked: Asked, produce: Producer, keeper: Keeper, patience_seconds: float, *, streamed: bool
    ) -> None:
        """`streamed`: whether a client knows its events' numbers."""
        self.asked = asked
        self.streamed = streamed
        self.log = EventLog()
        self._produce = produce
        self._keeper = keeper
        self._patience_seconds = patience_seconds if asked.resumable else 0.0
        self._stop = asyncio.Event()
        self._readers = 0
        self._making: asyncio.Task[None] | None = None
        self._leaving: asyncio.TimerHandle | None = None

    async def follow(self, after: int = 0) -> AsyncGenerator[Numbered | None]:
        """The events behind number `after`; None where none came for a while. Closing it is leaving."""
        self._readers += 1
        self._cancel_leaving()
        if self._making is None:
            self._keeper.begun(self)
            self._making = asyncio.create_task(self._make())
        try:
            async with aclosing(self.log.follow(min(after, len(self.log)))) as events:
                async for event in events:
                    yield event
        finally:
            self._readers -= 1
            self.touch()

    def touch(self) -> None:
        """Somebody was here, perhaps in another process; if nobody is, time runs from now."""
        self._cancel_leaving()
        if self._readers or self.log.ended:
            return
        if not self._patience_seconds:
            self.stop()
            return
        self._leaving = asyncio.get_running_loop().call_later(self._patience_seconds, self.stop)

    async def made(self) -> None:
        """Returns when it has ended; at once where nobody has followed it."""
        if self._making is not None:
            await asyncio.wait((self._making,))

    def stop(self) -> None:
        """End it with what there is so far."""
        self._stop.set()

    async def cancel(self) -> None:
        """End it with an error, if it has not ended."""
        if self._making is not None:
            self._making.cancel()
            await asyncio.wait((self._making,))

    async def _make(self) -> None:
        try:
            async with aclosing(self._produce(self._stop)) as events:
                async for event in events:
                    self._append(event)
        except asyncio.CancelledError:
            self._break_off(ServiceStopping("Preread is being stopped; the answer is incomplete.", "Ask again."))
            raise
        except Exception as error:
            log.exception("answer %s failed", self.asked.request_id)
            self._break_off(error)
        finally:
            self._cancel_leaving()

    def _break_off(self, error: Exception) -> None:
        if not self.log.ended:
            self._append(problem_of(error, self.asked.request_id))

    def _append(self, event: Event) -> None:
        self._keeper.happened(self, self.log.append(event), event)

    def _cancel_leaving(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
