"""What each API key may take, and how often somebody may try to sign in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from limits import RateLimitItemPerHour, RateLimitItemPerMinute

from app.core.access import Principal
from app.core.settings import Settings
from app.web.access.errors import RateLimited, TooManyAtOnce, TooManyAttempts
from app.web.access.leases import Leases
from app.web.access.rates import Rates
from app.web.access.shared_redis import SharedRedis

_OPEN_RETRY_SECONDS = 1
_TRIES = RateLimitItemPerMinute(10, 15)
"""Of one name from one address, in a quarter of an hour."""
_TRIES_OF_ADDRESS = RateLimitItemPerHour(200)


class Limits:
    """Redis that is away refuses nobody: each web process then counts by itself."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._shared = SharedRedis(settings.redis_client_url)
        self._rates = Rates(self._shared)
        self._leases = Leases(self._shared)

    @asynccontextmanager
    async def held(self, principal: Principal) -> AsyncIterator[None]:
        """Around a request, to the end of its answer. Raises RateLimited, TooManyAtOnce."""
        await self._count(principal)
        most = _or_default(principal.concurrent_requests, self._settings.key_concurrent_requests)
        if not most:
            yield
            return
        lease = await self._leases.take(principal.id, most)
        if lease is None:
            raise TooManyAtOnce(
                f"{principal.name} has {most} requests open, as many as it may.",
                "Wait until one of them has ended.",
                _OPEN_RETRY_SECONDS,
            )
        try:
            yield
        finally:
            self._leases.give_back(principal.id, lease)

    async def attempt(self, name: str, address: str) -> None:
        """Before a password is looked at. Raises TooManyAttempts."""
        wait = await self._rates.take(_TRIES, "sign-in", name, address)
        wait = wait or await self._rates.take(_TRIES_OF_ADDRESS, "sign-in", address)
        if wait:
            raise TooManyAttempts("Too many tries to sign in.", f"Try again in {wait} seconds.", wait)

    async def succeeded(self, name: str, address: str) -> None:
        """The right password: the tries before it count no more."""
        await self._rates.clear(_TRIES, "sign-in", name, address)

    async def close(self) -> None:
        await self._leases.close()
        await self._shared.close()

    async def _count(self, principal: Principal) -> None:
        most = _or_default(principal.requests_per_minute, self._settings.key_requests_per_minute)
        if not most:
            return
        wait = await self._rates.take(RateLimitItemPerMinute(most), "key", principal.id)
        if wait:
            raise RateLimited(
                f"{principal.name} may send {most} requests a minute.", f"Try again in {wait} seconds.", wait
            )


def _or_default(limit: int | None, default: int) -> int:
    return default if limit is None else limit
