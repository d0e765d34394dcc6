"""A tier over another, to which it leaves all that it does not do in its own way."""

from collections.abc import Iterable, Iterator

from kvstore.tiers.base import Entry, Tier, TierStats


class WrappedTier:
    def __init__(self, tier: Tier) -> None:
        self._tier = tier

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


__all__ = ["WrappedTier"]
