"""The queue's Redis as limits are kept in it: asked briefly, or not at all while it is away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

T = TypeVar("T")

_ANSWER_SECONDS = 1.0
_CONNECTIONS = 20
_PAUSE_SECONDS = 5.0


class Away(Exception):
    """Redis does not answer; the caller has another way."""


class SharedRedis:
    """No request waits longer than a second for it, and when it was away, none does for five."""

    def __init__(self, url: str, clock: Callable[[], float] = monotonic) -> None:
        self.pool = BlockingConnectionPool.from_url(
            url,
            socket_timeout=_ANSWER_SECONDS,
            socket_connect_timeout=_ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
            max_connections=_CONNECTIONS,
            timeout=_ANSWER_SECONDS,
        )
        self.client: Redis = Redis(connection_pool=self.pool)
        self._clock = clock
        self._away_until = 0.0
        self._told = False

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T:
        """Raises Away."""
        if self._clock() < self._away_until:
            raise Away
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await question()
        except (RedisError, OSError, TimeoutError) as error:
            self._away_until = self._clock() + _PAUSE_SECONDS
            if not self._told:
                log.warning("limits of API keys are kept by each web process alone: Redis does not answer: %s", error)
                self._told = True
            raise Away from error
        if self._told:
            log.warning("limits of API keys are kept for all web processes again")
            self._told = False
        return answer

    async def close(self) -> None:
        await self.client.aclose()
        await self.pool.aclose()
