"""An answer's events, rendered as server-sent events or as one JSON response.

Where and why it differs from `fastapi.sse`, whose wire format it uses:

1. Whether to stream is a field of the request, so the route returns a response instead of yielding.
2. Data is ASCII-only JSON. `format_sse_event` splits data at U+2028, U+0085 and the like, which raw JSON may hold.
3. The events are closed, not just dropped, when the client leaves: that is how the answer knows.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.responses import Response
from starlette.types import Send

from app.web.leaving import CLIENT_CLOSED, disconnected
from app.web.racing import shut
from app.web.schemas.ask import AnswerOut, DeltaEvent, EventName, MetaEvent, SourcesEvent
from app.web.schemas.problem import Problem

Event = MetaEvent | SourcesEvent | DeltaEvent | AnswerOut | Problem

IDLE_SECONDS = 15.0
"""After so long without an event a comment keeps proxies from closing the connection."""

EVENT_NAMES: dict[type[Event], EventName] = {
    MetaEvent: "meta",
    SourcesEvent: "sources",
    DeltaEvent: "delta",
    AnswerOut: "done",
    Problem: "error",
}
_TERMINAL = ("done", "error")
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event and its number, from 1."""

    number: int
    event: Event


@dataclass(frozen=True, slots=True)
class Frame:
    """An event as it is sent; `data` is JSON. An event without a number is no part of the answer's own."""

    number: int | None
    name: str
    data: str

    @property
    def terminal(self) -> bool:
        return self.name in _TERMINAL

    def encode(self) -> bytes:
        return format_sse_event(
            id=None if self.number is None else str(self.number), event=self.name, data_str=self.data
        )


class EventStream(EventSourceResponse):
    """Pieces of `text/event-stream` as they come; a comment where there was none for a while (None)."""

    def __init__(self, pieces: AsyncGenerator[bytes | None]) -> None:
        self._pieces = _with_comments(pieces)
        super().__init__(self._pieces, headers=_HEADERS)

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        finally:
            await shut(self._pieces)


def is_terminal(event: Event) -> bool:
    return isinstance(event, AnswerOut | Problem)


def frame_of(number: int | None, event: Event) -> Frame:
    return Frame(number, EVENT_NAMES[type(event)], json.dumps(event.model_dump(mode="json")))


async def framed(events: AsyncGenerator[Numbered | None]) -> AsyncGenerator[Frame | None]:
    async with aclosing(events):
        async for item in events:
            yield None if item is None else frame_of(item.number, item.event)


async def encoded(frames: AsyncGenerator[Frame | None]) -> AsyncGenerator[bytes | None]:
    async with aclosing(frames):
        async for frame in frames:
            yield None if frame is None else frame.encode()


async def single_response(
    request: Request, events: AsyncGenerator[Numbered | None], render: Callable[[Event], Response]
) -> Response:
    """The last event alone, rendered; `events` are closed when the client leaves."""
    last = asyncio.create_task(_last(events))
    gone = asyncio.create_task(disconnected(request))
    try:
        await asyncio.wait((last, gone), return_when=asyncio.FIRST_COMPLETED)
        return render(last.result()) if last.done() else Response(status_code=CLIENT_CLOSED)
    finally:
        await shut(events, last, gone)


async def _with_comments(pieces: AsyncGenerator[bytes | None]) -> AsyncGenerator[bytes]:
    async with aclosing(pieces):
        async for piece in pieces:
            yield KEEPALIVE_COMMENT if piece is None else piece


async def _last(events: AsyncGenerator[Numbered | None]) -> Event:
    last: Event | None = None
    async for item in events:
        last = last if item is None else item.event
    assert last is not None
    return last
