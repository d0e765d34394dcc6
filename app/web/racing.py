"""Following an async generator while something else may happen first."""

import asyncio
from collections.abc import AsyncGenerator
from enum import Enum
from typing import TypeVar

import anyio

T = TypeVar("T")


class End(Enum):
    """What comes after the last item."""

    END = "end"


def follow(source: AsyncGenerator[T]) -> "asyncio.Task[T | End]":
    """The next item, as a task."""

    async def step() -> T | End:
        return await anext(source, End.END)

    return asyncio.create_task(step())


async def until(source: AsyncGenerator[T], *ends: asyncio.Event) -> AsyncGenerator[T]:
    """The items of `source` until one of `ends` is set. `source` is closed in every case."""
    ended = [asyncio.create_task(each.wait()) for each in ends]
    following = follow(source)
    try:
        while True:
            await asyncio.wait((following, *ended), return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            item = following.result()
            if item is End.END:
                return
            yield item
            following = follow(source)
    finally:
        await shut(source, following, *ended)


async def shut(source: AsyncGenerator[T], *tasks: "asyncio.Task[object]") -> None:
    """End `tasks`, which may be steps of `source`, then close `source`."""
    # Shielded: a client that leaves cancels every await of its request, also those of the clean-up.
    with anyio.CancelScope(shield=True):
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await source.aclose()
