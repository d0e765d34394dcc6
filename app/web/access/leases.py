"""How many requests of a key are open at once, over all web processes.

A lease that nobody gives back, because its web process was killed, runs out. One that is held longer than that is held
on by the next request of the same key to the same process.
"""

import asyncio
import logging
import time
from collections import defaultdict
from uuid import uuid4

from app.web.access.shared_redis import Away, SharedRedis

log = logging.getLogger(__name__)

LEASE_SECONDS = 300

_PREFIX = "preread:open:"
_TAKE = """
local now, ends, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for i = 5, #ARGV do redis.call('ZADD', KEYS[1], ends, ARGV[i]) end
if redis.call('ZCARD', KEYS[1]) >= most then return 0 end
redis.call('ZADD', KEYS[1], ends, ARGV[4])
redis.call('EXPIREAT', KEYS[1], math.ceil(ends))
return 1
"""


class Leases:
    """In Redis; while that is away, what this process holds counts alone."""

    def __init__(self, shared: SharedRedis) -> None:
        self._shared = shared
        self._take = shared.client.register_script(_TAKE)
        self._held: defaultdict[str, set[str]] = defaultdict(set)
        self._returning: set[asyncio.Task[None]] = set()

    async def take(self, key_id: str, most: int) -> str | None:
        """A lease; None where `most` are out already."""
        lease, now = uuid4().hex, time.time()
        sent = tuple(self._held.get(key_id, ()))
        arguments: list[str | float] = [now, now + LEASE_SECONDS, most, lease, *sent]
        try:
            given = bool(await self._shared.ask(lambda: self._take(keys=[_PREFIX + key_id], args=arguments)))
        except Away:
            given = len(self._held.get(key_id, ())) < most
        if given:
            self._held[key_id].add(lease)
        for back in set(sent) - self._held.get(key_id, set()):
            self._tell_back(key_id, back)  # given back meanwhile, and perhaps put in again
        return lease if given else None

    def give_back(self, key_id: str, lease: str) -> None:
        """At once; Redis is told beside whatever ends now, which may be cancelled."""
        held = self._held.get(key_id, set())
        held.discard(lease)
        if not held:
            self._held.pop(key_id, None)
        self._tell_back(key_id, lease)

    def _tell_back(self, key_id: str, lease: str) -> None:
        task = asyncio.create_task(self._return(key_id, lease))
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)

    async def close(self) -> None:
        await asyncio.gather(*self._returning)

    async def _return(self, key_id: str, lease: str) -> None:
        try:
            await self._shared.ask(lambda: self._shared.client.zrem(_PREFIX + key_id, lease))
        except Away:
            log.debug("a lease of %s runs out by itself", key_id)
