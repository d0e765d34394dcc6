"""Questions that come when they come, whether or not earlier ones have been answered."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from random import Random
from typing import TypeVar

T = TypeVar("T")


def arrivals(rps: float, seed: int) -> Iterator[float]:
    """Seconds from the start at which questions come, without end: a Poisson process of `rps` a second."""
    chance = Random(seed)  # noqa: S311  (nothing secret)
    moment = 0.0
    while True:
        moment += chance.expovariate(rps)
        yield moment


async def arriving(moments: Iterable[float], ask: Callable[[int, float], Awaitable[T]]) -> list[T]:
    """What `ask(number, due)` returns for each; `due` is a `perf_counter` time. None waits for another."""

    async def one(number: int, due: float) -> T:
        return await ask(number, due)

    began = time.perf_counter()
    asking: list[asyncio.Task[T]] = []
    try:
        for number, moment in enumerate(moments):
            due = began + moment
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            asking.append(asyncio.create_task(one(number, due)))
        return await asyncio.gather(*asking)
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
