"""A tier whose blobs are sealed where they lie."""

from kvstore.sealing import Seal
from kvstore.tiers.base import Tier
from kvstore.tiers.wrapped import WrappedTier


class SealedTier(WrappedTier):
    """`tier`, with what is put into it sealed and what is got from it opened. Sizes and limits are of sealed bytes."""

    def __init__(self, tier: Tier, seal: Seal) -> None:
        super().__init__(tier)
        self._seal = seal

    def get(self, tenant: str, key: str) -> bytes | None:
        return self._opened(tenant, key, self._tier.get(tenant, key))

    def peek(self, tenant: str, key: str) -> bytes | None:
        return self._opened(tenant, key, self._tier.peek(tenant, key))

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:
        self._tier.put(tenant, key, self._seal.seal(tenant, key, data), worth)

    def _opened(self, tenant: str, key: str, sealed: bytes | memoryview | None) -> bytes | None:
        return None if sealed is None else self._seal.open(tenant, key, sealed)


__all__ = ["SealedTier"]
