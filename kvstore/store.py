"""Chunk KV by tenant and identity, over tiers from fast to lasting.

    found = store.get(tenant, expected)
    if isinstance(found, Hit):
        keys, values = found.blob.layer(0, codecs.of(found.blob))

What the store hands out is whole and is what was asked for; all else is a miss. A chunk may be stored at several levels
(`kvstore.levels`): each is got and put by itself, but all are deleted together.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from app.core.ids import new_id
from kvstore.blob import Blob
from kvstore.errors import CorruptBlob, ForeignBlob, TierDown, TooLarge
from kvstore.identity import BlobIdentity
from kvstore.levels import at_all_levels
from kvstore.reasons import StoreMiss
from kvstore.tiers.base import Tier, TierStats
from kvstore.write_behind import WriteBehind

logger = logging.getLogger(__name__)

_WAITING_WRITES = 8  # whole blobs; while so many wait, more would only fill memory


@dataclass(frozen=True)
class Hit:
    """A verified blob, and the name of the tier it came from."""

    blob: Blob
    tier: str


@dataclass(frozen=True)
class Miss:
    """`reason`: corrupt if a bad blob was found; else tier_down if a tier that might have had it is; else absent."""

    reason: StoreMiss


@dataclass(frozen=True)
class Stored:
    """Where a blob lies first, and how long it is."""

    tier: str
    nbytes: int


class ChunkStore:
    """Tiers in the order they are asked, fastest first. Thread-safe if its tiers are."""

    def __init__(self, tiers: Sequence[Tier]) -> None:
        self._tiers = tuple(tiers)
        self._behind = WriteBehind(_WAITING_WRITES)

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """For who looks after each by itself."""
        return self._tiers

    def get(self, tenant: str, expected: BlobIdentity) -> Hit | Miss:
        """The blob of `expected`, compared with it and checked by every checksum.

        A corrupt or foreign blob is dropped from its tier and the next tier asked. A hit is copied into those writable
        tiers before it that had none, a moment later: `settle` waits for that.

        Raises: BadName for a tenant that is not spelled as one.
        """
        without: list[Tier] = []
        reason = StoreMiss.ABSENT
        for tier in self._tiers:
            try:
                found = _look(tier, tenant, expected)
            except TierDown as error:
                logger.warning("Passing over the %s tier: %s", tier.name, error)
                reason = reason if reason is StoreMiss.CORRUPT else StoreMiss.TIER_DOWN
                continue
            if isinstance(found, Blob):
                for faster in without:
                    self._behind.submit((tenant, expected.key), partial(_promote, found, tier, faster, tenant))
                return Hit(found, tier.name)
            if tier.writable:
                without.append(tier)
            reason = found if found is StoreMiss.CORRUPT else reason
        return Miss(reason)

    def settle(self) -> None:
        """Wait until what was found so far is copied into faster tiers, and what was put has reached the slow ones."""
        self._behind.settle()

    def put(self, tenant: str, data: bytes, fence: Callable[[], object] = lambda: None) -> tuple[str, ...]:
        """Store a blob under the key in its header, in every tier that other processes share.

        Once a tier has it, the slow ones get it a moment later: `settle` waits for that.

        Args:
            fence: called right before each write. What it raises, the writer's right to write having ended, comes out
                of here, or keeps the write that nobody waits for from being made.
        Returns: the names of the tiers that have taken it by now, at least one.
        Raises: CorruptBlob; TierDown or TooLarge when no tier took it; BadName.
        """
        blob = Blob.parse(data)
        blob.verify()
        name = tenant, blob.identity.key
        self._behind.cancel([name])  # it would come after this one, which replaces it
        taken: list[str] = []
        refusal: TierDown | TooLarge = TierDown("There is no shared tier to store to.", "Set PREREAD_KV_DISK_BYTES.")
        for tier in self._tiers:
            if not tier.shared:
                tier.delete(tenant, blob.identity.key)  # it may hold the blob that this one replaces
                continue
            if taken and tier.slow and self._behind.submit(name, partial(_follow, blob, tier, tenant, fence)):
                continue
            try:
                fence()
                tier.put(tenant, blob.identity.key, data, _worth(blob))
                taken.append(tier.name)
            except (TierDown, TooLarge) as error:
                logger.warning("The %s tier did not store %s: %s", tier.name, blob.identity.key, error)
                refusal = error
        if not taken:
            raise refusal
        return tuple(taken)

    def delete(self, tenant: str, keys: Iterable[str]) -> int:
        """Forget the chunks of `keys` at every level in every tier of this store; another process's memory tier is out
        of reach.

        Returns: how many of `keys` were found at some level in some tier.
        Raises: TierDown after all other tiers have deleted: call again when it is back. BadName.
        """
        stored = at_all_levels(keys)
        self._behind.cancel((tenant, name) for name in stored)
        found: set[str] = set()
        down: TierDown | None = None
        for tier in reversed(self._tiers):  # the order `_promote` relies on
            try:
                found.update(key for name, key in stored.items() if tier.delete(tenant, name))
            except TierDown as error:
                down = error
        if down is not None:
            raise down
        return len(found)

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        """Those of `keys` that some tier holds at some level, unverified. Raises: TierDown when no tier answers."""
        missing = set(keys)
        found: set[str] = set()
        down: list[TierDown] = []
        for tier in self._tiers:
            try:
                stored = at_all_levels(missing)
                here = {stored[name] for name in tier.contains(tenant, stored)}
            except TierDown as error:
                logger.warning("Passing over the %s tier: %s", tier.name, error)
                down.append(error)
                continue
            found |= here
            missing -= here
        if down and len(down) == len(self._tiers):
            raise down[0]
        return found

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, Stored]:
        """Of the blobs under exactly these keys, unverified; tiers that do not answer are passed over."""
        missing = set(keys)
        found: dict[str, Stored] = {}
        for tier in self._tiers:
            try:
                here = tier.sizes(tenant, missing)
            except TierDown as error:
                logger.warning("Passing over the %s tier: %s", tier.name, error)
                continue
            found |= {key: Stored(tier.name, nbytes) for key, nbytes in here.items()}
            missing -= here.keys()
        return found

    def lease(self, tenant: str, keys: Iterable[str], seconds: float) -> str:
        """Have nothing of the chunks of `keys` evicted for so long; tiers that do not answer are passed over.

        Returns: what `release` ends it by.
        """
        reader = new_id("read")
        stored = at_all_levels(keys)
        for tier in self._tiers:
            try:
                tier.lease(tenant, stored, reader, seconds)
            except TierDown as error:
                logger.warning("No lease from the %s tier: %s", tier.name, error)
        return reader

    def release(self, reader: str) -> None:
        """End a lease. A tier that does not answer keeps it until its time is up."""
        for tier in self._tiers:
            try:
                tier.release(reader)
            except TierDown as error:
                logger.warning("The %s tier keeps a lease until its time is up: %s", tier.name, error)

    def stats(self) -> tuple[TierStats, ...]:
        """Of the tiers that answer."""
        answered = []
        for tier in self._tiers:
            try:
                answered.append(tier.stats())
            except TierDown as error:
                logger.warning("No numbers from the %s tier: %s", tier.name, error)
        return tuple(answered)


def _worth(blob: Blob) -> float:
    """What a hit on this blob saves: the bytes of its KV, which computing takes time in proportion to."""
    return float(blob.decoded_bytes)


def _look(tier: Tier, tenant: str, expected: BlobIdentity) -> Blob | StoreMiss:
    try:
        data = tier.get(tenant, expected.key)
        if data is None:
            return StoreMiss.ABSENT
        blob = Blob.parse(data)
        blob.check(expected)
        blob.verify()
    except (CorruptBlob, ForeignBlob) as error:
        logger.warning("Dropping %s of %s from the %s tier: %s", expected.key, tenant, tier.name, error)
        _drop(tier, tenant, expected.key)
        return StoreMiss.CORRUPT
    return blob


def _drop(tier: Tier, tenant: str, key: str) -> None:
    try:
        tier.delete(tenant, key)
    except TierDown as error:
        logger.warning("It is still in the %s tier: %s", tier.name, error)


def _follow(blob: Blob, slow: Tier, tenant: str, fence: Callable[[], object]) -> None:
    """The write that `put` did not wait for."""
    key = blob.identity.key
    try:
        fence()
        slow.put(tenant, key, blob.data, _worth(blob))
    except (TierDown, TooLarge) as error:
        logger.warning("The %s tier did not store %s: %s", slow.name, key, error)


def _promote(blob: Blob, source: Tier, faster: Tier, tenant: str) -> None:
    key = blob.identity.key
    try:
        faster.put(tenant, key, blob.data, _worth(blob))
        # `delete` goes from lasting to fast. So if it ran meanwhile, either the entry is gone from the source by now,
        # or `delete` has yet to reach the faster tier.
        if not source.contains(tenant, [key]):
            faster.delete(tenant, key)
    except (TierDown, TooLarge) as error:
        logger.info("Not copied to the %s tier: %s", faster.name, error)


__all__ = ["ChunkStore", "Hit", "Miss", "Stored"]
