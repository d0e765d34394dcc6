"""The events of one answer in their order, to be followed by several readers at once."""

import asyncio
from collections.abc import AsyncGenerator

from app.web.schemas.ask import AnswerOut, DeltaEvent
from app.web.schemas.problem import Problem
from app.web.stream import IDLE_SECONDS, Event, Numbered


class EventLog:
    """Events count from 1; the terminal one is the last. Pieces of text are kept as such: there are many of them."""

    def __init__(self) -> None:
        self._items: list[Event | str] = []
        self._grown = asyncio.Event()
        self.ended = False

    def __len__(self) -> int:
        return len(self._items)

    def append(self, event: Event) -> int:
        """The event's number. Nothing may follow a terminal one."""
        assert not self.ended
        self._items.append(event.text if isinstance(event, DeltaEvent) else event)
        self.ended = isinstance(event, AnswerOut | Problem)
        self._grown.set()
        self._grown = asyncio.Event()
        return len(self._items)

    async def follow(self, after: int = 0) -> AsyncGenerator[Numbered | None]:
        """The events behind number `after`, to the terminal one; None where none came for a while."""
        while True:
            grown = self._grown
            while after < len(self._items):
                after += 1
                yield Numbered(after, self._at(after))
            if self.ended:
                return
            if grown.is_set():
                continue
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    await grown.wait()
            except TimeoutError:
                yield None

    def _at(self, number: int) -> Event:
        item = self._items[number - 1]
        return DeltaEvent(text=item) if isinstance(item, str) else item
