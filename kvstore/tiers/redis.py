"""Blobs in Redis, for engines on several machines."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from kvstore.breaker import Breaker
from kvstore.errors import TierDown, TooLarge
from kvstore.names import checked_key, checked_tenant
from kvstore.tiers.base import Entry, TierStats

_PREFIX = "preread:kv:"
_NAME = re.compile(rf"{_PREFIX}([a-z0-9][a-z0-9_-]{{0,62}}):([0-9a-f]{{64}})")
_LARGEST_VALUE = 512 * 2**20  # Redis's own limit
_SCAN_BATCH = 1000
_HINT = "Check PREREAD_KV_REDIS_URL and that Redis runs."


class RedisTier:
    """Entries live `ttl_seconds` after they were put.

    A Redis that did not answer is not asked again for `pause_seconds`: waiting for it would stall every question.

    Args:
        url: redis://, rediss:// or unix://.
        timeout_seconds: for connecting and for each reply.
        clock: seconds, monotonic.
        wall_clock: seconds since 1970.
    """

    name = "redis"
    shared = True
    writable = True
    slow = False

    def __init__(
        self,
        url: str,
        ttl_seconds: int,
        *,
        timeout_seconds: float = 1.0,
        pause_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = redis.Redis.from_url(
            url,
            socket_connect_timeout=timeout_seconds,
            socket_timeout=timeout_seconds,
            retry=Retry(NoBackoff(), 0),
        )
        self._ttl_seconds = ttl_seconds
        self._wall_clock = wall_clock
        self._breaker = Breaker(
            "Redis", _HINT, _is_silence, pause_seconds=pause_seconds, longest_pause_seconds=pause_seconds, clock=clock
        )

    def get(self, tenant: str, key: str) -> bytes | None:
        name = _name(tenant, key)
        with self._answering():
            data = self._client.get(name)
        return data if isinstance(data, bytes) else None

    def peek(self, tenant: str, key: str) -> bytes | None:
        return self.get(tenant, key)

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:  # noqa: ARG002  # noqa: ARG002
        name = _name(tenant, key)
        if len(data) > _LARGEST_VALUE:
            raise TooLarge(f"{len(data)} bytes do not fit into a Redis value of {_LARGEST_VALUE}.")
        with self._answering():
            self._client.set(name, bytes(data), ex=self._ttl_seconds)

    def delete(self, tenant: str, key: str) -> bool:
        name = _name(tenant, key)
        with self._answering():
            return bool(self._client.delete(name))

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        asked = list(keys)
        names = [_name(tenant, key) for key in asked]
        with self._answering(), self._client.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.exists(name)
            return {key for key, found in zip(asked, pipeline.execute(), strict=True) if found}

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        asked = list(keys)
        names = [_name(tenant, key) for key in asked]
        with self._answering():
            return {key: size for key, size in zip(asked, self._lengths(names), strict=True) if size}

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        """Redis itself says what goes."""

    def release(self, reader: str) -> None:
        """There are none."""

    def entries(self) -> Iterator[Entry]:
        """When one was written follows from how long it has to live, were all put with this tier's `ttl_seconds`."""
        cursor = 0
        while True:
            with self._answering():
                cursor, names = self._client.scan(cursor, match=f"{_PREFIX}*", count=_SCAN_BATCH)
                found = self._ages(names)
            yield from found
            if not cursor:
                return

    def stats(self) -> TierStats:
        with self._answering():
            sizes = [size for names in self._batches() for size in self._lengths(names) if size]
            limit = int(self._client.info("memory").get("maxmemory", 0))
        return TierStats(self.name, len(sizes), sum(sizes), limit or None)

    def close(self) -> None:
        self._client.close()

    def _batches(self) -> Iterator[list[bytes]]:
        batch: list[bytes] = []
        for name in self._client.scan_iter(match=f"{_PREFIX}*", count=_SCAN_BATCH):
            batch.append(name)
            if len(batch) == _SCAN_BATCH:
                yield batch
                batch = []
        yield batch

    def _lengths(self, names: Sequence[str | bytes]) -> list[int]:
        """Of values under these names; 0 where there is none."""
        with self._client.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.strlen(name)
            return list(pipeline.execute())

    def _ages(self, names: Sequence[str | bytes]) -> list[Entry]:
        """Those of ours among `names` that are still there."""
        texts = [name.decode(errors="replace") if isinstance(name, bytes) else name for name in names]
        spelled = [match for text in texts if (match := _NAME.fullmatch(text))]
        with self._client.pipeline(transaction=False) as pipeline:
            for match in spelled:
                pipeline.strlen(match[0])
                pipeline.pttl(match[0])
            answers = iter(pipeline.execute())
        now = self._wall_clock()
        return [
            Entry(match[1], match[2], size, now - self._ttl_seconds + left / 1000 if left > 0 else None)
            for match, size, left in zip(spelled, answers, answers, strict=True)
            if size
        ]

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            with self._breaker.asking():
                yield
        except redis.RedisError as error:
            if _is_silence(error):
                raise TierDown(f"Redis does not answer: {error}", _HINT) from error
            raise TierDown(f"Redis refuses: {error}", "Check its memory limit and its log.") from error


def _is_silence(error: Exception) -> bool:
    return isinstance(error, (redis.ConnectionError, redis.TimeoutError))


def _name(tenant: str, key: str) -> str:
    return f"{_PREFIX}{checked_tenant(tenant)}:{checked_key(key)}"


__all__ = ["RedisTier"]
