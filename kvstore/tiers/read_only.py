"""A tier that this process only reads, beside others that write it."""

from collections.abc import Iterable, Iterator
from typing import NoReturn

from kvstore.errors import ReadOnlyStore
from kvstore.tiers.base import Entry, Tier, TierStats


class ReadOnlyTier:
    """`tier`, of which nothing is changed: not what is in it, nor how old or how often used it is taken to be.

    `put` and `delete` raise ReadOnlyStore. What is being read may be evicted by those who write: it holds no leases.
    """

    writable = False

    def __init__(self, tier: Tier) -> None:
        self._tier = tier

    @property
    def name(self) -> str:
        return self._tier.name

    @property
    def shared(self) -> bool:
        return self._tier.shared

    @property
    def slow(self) -> bool:
        return self._tier.slow

    def get(self, tenant: str, key: str) -> bytes | memoryview | None:
        return self._tier.peek(tenant, key)

    def peek(self, tenant: str, key: str) -> bytes | memoryview | None:
        return self._tier.peek(tenant, key)

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> NoReturn:  # noqa: ARG002
        self._refuse()

    def delete(self, tenant: str, key: str) -> NoReturn:  # noqa: ARG002
        self._refuse()

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        return self._tier.contains(tenant, keys)

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        return self._tier.sizes(tenant, keys)

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        """A lease would be a write."""

    def release(self, reader: str) -> None:
        """There are none."""

    def entries(self) -> Iterator[Entry]:
        return self._tier.entries()

    def stats(self) -> TierStats:
        return self._tier.stats()

    def _refuse(self) -> NoReturn:
        raise ReadOnlyStore(
            f"Chunk KV in the {self.name} tier is only read here.",
            "PREREAD_KV_READ_ONLY is set. A process without it, such as a worker, stores and deletes.",
        )


__all__ = ["ReadOnlyTier"]
