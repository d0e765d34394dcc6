"""A tier whose blobs are sealed where they lie."""

from collections.abc import Iterable, Iterator

from kvstore.sealing import Seal
from kvstore.tiers.base import Entry, Tier, TierStats


class SealedTier:
    """`tier`, with what is put into it sealed and what is got from it opened. Sizes and limits are of sealed bytes."""

    def __init__(self, tier: Tier, seal: Seal) -> None:
        self._tier = tier
        self._seal = seal

    @property
    def name(self) -> str:
        return self._tier.name

    @property
    def shared(self) -> bool:
        return self._tier.shared

    @property
    def writable(self) -> bool:
        return self._tier.writable

    @property
    def slow(self) -> bool:
        return self._tier.slow

    def get(self, tenant: str, key: str) -> bytes | None:
        return self._opened(tenant, key, self._tier.get(tenant, key))

    def peek(self, tenant: str, key: str) -> bytes | None:
        return self._opened(tenant, key, self._tier.peek(tenant, key))

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:
        self._tier.put(tenant, key, self._seal.seal(tenant, key, data), worth)

    def delete(self, tenant: str, key: str) -> bool:
        return self._tier.delete(tenant, key)

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        return self._tier.contains(tenant, keys)

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        return self._tier.sizes(tenant, keys)

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        self._tier.lease(tenant, keys, reader, seconds)

    def release(self, reader: str) -> None:
        self._tier.release(reader)

    def entries(self) -> Iterator[Entry]:
        return self._tier.entries()

    def stats(self) -> TierStats:
        return self._tier.stats()

    def _opened(self, tenant: str, key: str, sealed: bytes | memoryview | None) -> bytes | None:
        return None if sealed is None else self._seal.open(tenant, key, sealed)


__all__ = ["SealedTier"]
