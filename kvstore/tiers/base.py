"""What every storage tier can do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class TierStats:
    """`limit_bytes` is None where the tier sets no limit of its own."""

    name: str
    entries: int
    bytes: int
    limit_bytes: int | None


@dataclass(frozen=True)
class Entry:
    """`nbytes` as it lies in the tier; `written_at` in seconds since 1970, None where the tier cannot tell."""

    tenant: str
    key: str
    nbytes: int
    written_at: float | None


class Tier(Protocol):
    """Blobs by tenant and key. Thread-safe. A tier does not look into the bytes; `kvstore.store` checks them.

    Every method raises BadName for a tenant or key that is not spelled as one, and TierDown when the tier does not
    answer.
    """

    @property
    def name(self) -> str: ...

    @property
    def shared(self) -> bool:
        """Whether other processes find what is put here."""

    @property
    def writable(self) -> bool:
        """Whether this process may put and delete here; where it may not, both raise TierDown."""

    @property
    def slow(self) -> bool:
        """Whether a worker should not wait for a write here."""

    def get(self, tenant: str, key: str) -> bytes | memoryview | None:
        """The bytes last put, or None. Raises: CorruptBlob from a tier that seals, for what does not open."""

    def peek(self, tenant: str, key: str) -> bytes | memoryview | None:
        """As `get`, leaving its age as it is where the tier itself says what goes."""

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:
        """Keep `data`, replacing what was there; others may be evicted. Raises: TooLarge beyond the tier's limit.

        worth: what a hit saves, in any unit that all entries share; None: as much as others of its size.
        """

    def delete(self, tenant: str, key: str) -> bool:
        """Forget an entry; whether there was one."""

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        """Those of `keys` that `get` would find, leaving their age as it is."""

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        """Bytes of those of `keys` that `get` would find, leaving their age as it is."""

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        """Evict none of `keys` for so long, or until `release`, where the tier itself says what goes.

        reader: any name that no other reader has at the time.
        """

    def release(self, reader: str) -> None:
        """End the reader's leases."""

    def entries(self) -> Iterator[Entry]:
        """Everything that `get` would find, of all tenants, a few at a time.

        What is put or deleted meanwhile may be among them or not, and one may come twice. Nothing is held between two
        of them: the tier may be used as ever.
        """

    def stats(self) -> TierStats: ...


__all__ = ["Entry", "Tier", "TierStats"]
