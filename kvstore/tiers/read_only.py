"""A tier that this process only reads, beside others that write it."""

from collections.abc import Iterable
from typing import NoReturn

from kvstore.errors import ReadOnlyStore
from kvstore.tiers.wrapped import WrappedTier


class ReadOnlyTier(WrappedTier):
    """`tier`, of which nothing is changed: not what is in it, nor how old or how often used it is taken to be.

    `put` and `delete` raise ReadOnlyStore. What is being read may be evicted by those who write: it holds no leases.
    """

    @property
    def writable(self) -> bool:
        return False

    def get(self, tenant: str, key: str) -> bytes | memoryview | None:
        return self._tier.peek(tenant, key)

    def peek(self, tenant: str, key: str) -> bytes | memoryview | None:
        return self._tier.peek(tenant, key)

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> NoReturn:  # noqa: ARG002
        self._refuse()

    def delete(self, tenant: str, key: str) -> NoReturn:  # noqa: ARG002
        self._refuse()

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        """A lease would be a write."""

    def release(self, reader: str) -> None:
        """There are none."""

    def _refuse(self) -> NoReturn:
        raise ReadOnlyStore(
            f"Chunk KV in the {self.name} tier is only read here.",
            "PREREAD_KV_READ_ONLY is set. A process without it, such as a worker, stores and deletes.",
        )


__all__ = ["ReadOnlyTier"]
