"""Work that is only worth doing while somebody waits for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio
from fastapi import Request
from starlette.responses import Response

from app.web.live.errors import ServiceStopping

T = TypeVar("T")

CLIENT_CLOSED = 499
"""The status of an answer that nobody is there to get."""


class ClientLeft(Exception):
    """The connection was closed before there was an answer."""


async def while_wanted(request: Request, stopping: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises; it is cancelled when the client leaves, or `stopping` is set.

    The request's body must have been read. Raises ClientLeft, ServiceStopping.
    """
    working = asyncio.create_task(work)
    gone = asyncio.create_task(disconnected(request))
    stopped = asyncio.create_task(stopping.wait())
    tasks = (working, gone, stopped)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if gone.done():
            raise ClientLeft
        raise ServiceStopping("Preread is being stopped; there is no answer yet.", "Ask again in a minute.")
    finally:
        # Shielded: the request itself may be what is being cancelled.
        with anyio.CancelScope(shield=True):
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def disconnected(request: Request) -> None:
    """Returns when the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def to_nobody(_request: Request, _error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED)
