"""An answer's events, rendered as server-sent events or as one JSON response.

Where and why it differs from `fastapi.sse`, whose wire format it uses:

1. Whether to stream is a field of the request, so the route returns a response instead of yielding.
2. Data is ASCII-only JSON. `format_sse_event` splits data at U+2028, U+0085 and the like, which raw JSON may hold.
3. The events are closed, not just dropped, when the client leaves: that ends the generation in the engine.
"""

import asyncio
import json
from collections.abc import AsyncGenerator

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.responses import JSONResponse, Response
from starlette.types import Send

from app.web.leaving import CLIENT_CLOSED, disconnected
from app.web.problems import respond
from app.web.racing import End, follow, shut
from app.web.schemas.ask import AnswerOut, DeltaEvent, EventName, MetaEvent, SourcesEvent
from app.web.schemas.problem import Problem

Event = MetaEvent | SourcesEvent | DeltaEvent | AnswerOut | Problem

EVENT_NAMES: dict[type[Event], EventName] = {
    MetaEvent: "meta",
    SourcesEvent: "sources",
    DeltaEvent: "delta",
    AnswerOut: "done",
    Problem: "error",
}
_PING_SECONDS = 15.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(EventSourceResponse):
    """Every event as it comes; a comment now and then while there is none."""

    def __init__(self, events: AsyncGenerator[Event]) -> None:
        self._encoded = _encode(events)
        super().__init__(self._encoded, headers=_HEADERS)

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        finally:
            await shut(self._encoded)


async def single_response(request: Request, events: AsyncGenerator[Event]) -> Response:
    """The last event alone; generation ends when the client leaves."""
    last = asyncio.create_task(_last(events))
    gone = asyncio.create_task(disconnected(request))
    try:
        await asyncio.wait((last, gone), return_when=asyncio.FIRST_COMPLETED)
        if not last.done():
            return Response(status_code=CLIENT_CLOSED)
        event = last.result()
    finally:
        await shut(events, last, gone)
    if isinstance(event, Problem):
        return respond(event)
    return JSONResponse(event.model_dump(mode="json"))


async def _encode(events: AsyncGenerator[Event]) -> AsyncGenerator[bytes]:
    following = follow(events)
    try:
        while True:
            done, _ = await asyncio.wait((following,), timeout=_PING_SECONDS)
            if not done:
                yield KEEPALIVE_COMMENT
                continue
            event = following.result()
            if event is End.END:
                return
            yield format_sse_event(event=EVENT_NAMES[type(event)], data_str=json.dumps(event.model_dump(mode="json")))
            following = follow(events)
    finally:
        await shut(events, following)


async def _last(events: AsyncGenerator[Event]) -> Event:
    last: Event | None = None
    async for event in events:
        last = event
    assert last is not None
    return last
