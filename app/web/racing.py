"""Following an async generator while something else may happen first."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from enum import Enum
from typing import TypeVar

import anyio

from app.core.codes import Code
from app.core.errors import Unavailable

T = TypeVar("T")


class End(Enum):
    """What comes after the last item."""

    END = "end"


class ServiceStopping(Unavailable):
    code = Code.SERVICE_STOPPING

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Connection": "close"}  # what is sent next is to reach another process


def follow(source: AsyncGenerator[T]) -> "asyncio.Task[T | End]":
    """The next item, as a task."""

    async def step() -> T | End:
        return await anext(source, End.END)

    return asyncio.create_task(step())


async def until(stop: asyncio.Event, source: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """The items of `source`, which is closed in every case. Raises ServiceStopping once `stop` is set."""
    stopped = asyncio.create_task(stop.wait())
    following = follow(source)
    try:
        while True:
            await asyncio.wait((following, stopped), return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                raise ServiceStopping("Preread is being stopped; the answer is incomplete.", "Ask again in a minute.")
            item = following.result()
            if item is End.END:
                return
            yield item
            following = follow(source)
    finally:
        await shut(source, following, stopped)


async def shut(source: AsyncGenerator[T], *tasks: "asyncio.Task[object]") -> None:
    """End `tasks`, which may be steps of `source`, then close `source`."""
    # Shielded: a client that leaves cancels every await of its request, also those of the clean-up.
    with anyio.CancelScope(shield=True):
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await source.aclose()
