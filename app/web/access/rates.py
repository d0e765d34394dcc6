"""How often something may happen in a while, over all web processes."""

import time
from math import ceil
from typing import Any

from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter

from app.web.access.shared_redis import Away, SharedRedis

_PREFIX = "preread:rates"


class Rates:
    """Moving windows in Redis; while that is away, in this process."""

    def __init__(self, shared: SharedRedis) -> None:
        self._shared = shared
        pool: dict[str, Any] = {"connection_pool": shared.pool}  # which the storage's types do not name
        storage = RedisStorage("async+redis://", implementation="redispy", key_prefix=_PREFIX, **pool)
        self._everywhere = MovingWindowRateLimiter(storage)
        self._here = MovingWindowRateLimiter(MemoryStorage())

    async def take(self, rate: RateLimitItem, *names: str) -> int:
        """0, or where there was too much already: the seconds until there is room again."""
        try:
            return await self._shared.ask(lambda: _taken(self._everywhere, rate, names))
        except Away:
            return await _taken(self._here, rate, names)

    async def clear(self, rate: RateLimitItem, *names: str) -> None:
        """Begin anew."""
        await self._here.clear(rate, *names)
        try:
            await self._shared.ask(lambda: self._everywhere.clear(rate, *names))
        except Away:
            return


async def _taken(limiter: MovingWindowRateLimiter, rate: RateLimitItem, names: tuple[str, ...]) -> int:
    if await limiter.hit(rate, *names):
        return 0
    window = await limiter.get_window_stats(rate, *names)
    return max(1, ceil(window.reset_time - time.time()))
