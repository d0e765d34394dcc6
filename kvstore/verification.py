"""Whether what a tier holds is whole and still wanted, and removing what is not.

    judge = Judge(codecs, known)
    found = examine(tier, judge)
    removed = remove(tier, judge, found.amiss)

One blob is in memory at a time. Others may put and delete meanwhile.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from kvstore.blob import Blob
from kvstore.codecs.codecs import Codecs
from kvstore.errors import CorruptBlob, StaleProfile
from kvstore.identity import BlobIdentity
from kvstore.levels import at_all_levels
from kvstore.tiers.base import Entry, Tier

YOUNG_SECONDS = 3600.0
MOST_REMOVED_BLINDLY = 10


class Verdict(StrEnum):
    """CORRUPT: it cannot be opened, or is not what its name says. STALE_PROFILE: nothing here can decode it.
    UNKNOWN: nobody has asked for it, or nobody does any more."""

    WHOLE = "whole"
    CORRUPT = "corrupt"
    UNKNOWN = "unknown"
    STALE_PROFILE = "stale_profile"


@dataclass(frozen=True)
class Judgement:
    entry: Entry
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True)
class Judge:
    """
    Args:
        codecs: those that whoever loads the blobs has.
        known: whether somebody wants the blob of this identity of a tenant; asked after the blob was read.
        clock: seconds since 1970.
    """

    codecs: Codecs
    known: Callable[[str, BlobIdentity], bool]
    clock: Callable[[], float] = time.time

    def __call__(self, tier: Tier, entry: Entry) -> Judgement | None:
        """None: it is gone by now. Raises: TierDown, and what `known` raises."""
        try:
            blob = _blob(tier, entry)
            if blob is None:
                return None
            self.codecs.of(blob)
        except CorruptBlob as error:
            return Judgement(entry, Verdict.CORRUPT, error.message)
        except StaleProfile as error:
            return Judgement(entry, Verdict.STALE_PROFILE, error.message)
        # Whoever has just put it may not have told yet.
        if self._is_old(entry) and not self.known(entry.tenant, blob.identity):
            return Judgement(entry, Verdict.UNKNOWN, "Nothing that is to be pre-read has this key.")
        return Judgement(entry, Verdict.WHOLE)

    def _is_old(self, entry: Entry) -> bool:
        return entry.written_at is not None and entry.written_at < self.clock() - YOUNG_SECONDS


@dataclass(frozen=True)
class Examined:
    """`nbytes` as they lie in the tier; `verdicts` counts the entries; `amiss` are those that are not whole."""

    nbytes: int
    verdicts: Counter[Verdict]
    amiss: tuple[Judgement, ...]

    @property
    def entries(self) -> int:
        return self.verdicts.total()

    @property
    def doubtful(self) -> bool:
        """More than a few and none whole: rather than all of them, the key, catalog or profiles here are wrong."""
        return not self.verdicts[Verdict.WHOLE] and self.entries > MOST_REMOVED_BLINDLY


def examine(tier: Tier, judge: Judge, advance: Callable[[], object] = lambda: None) -> Examined:
    """Read and judge everything that the tier holds; `advance` is called for each entry. Raises: TierDown."""
    nbytes = 0
    verdicts: Counter[Verdict] = Counter()
    amiss = []
    for entry in tier.entries():
        judgement = judge(tier, entry)
        advance()
        if judgement is None:
            continue
        nbytes += entry.nbytes
        verdicts[judgement.verdict] += 1
        if judgement.verdict is not Verdict.WHOLE:
            amiss.append(judgement)
    return Examined(nbytes, verdicts, tuple(amiss))


def remove(tier: Tier, judge: Judge, amiss: Iterable[Judgement]) -> int:
    """Delete from the tier what is still amiss; how many that were. Raises: TierDown."""
    removed = 0
    for judgement in amiss:
        entry = judgement.entry
        now = judge(tier, entry)  # it may have been put anew
        if now is not None and now.verdict is not Verdict.WHOLE:
            removed += tier.delete(entry.tenant, entry.key)
    return removed


def absent(tiers: Iterable[Tier], tenant: str, keys: Iterable[str]) -> set[str]:
    """Those of `keys` that no tier holds at any level. Raises: TierDown when any tier is: it may hold them."""
    missing = set(keys)
    for tier in tiers:
        stored = at_all_levels(missing)
        missing -= {stored[name] for name in tier.contains(tenant, stored)}
    return missing


def _blob(tier: Tier, entry: Entry) -> Blob | None:
    """None: there is none. Raises: CorruptBlob."""
    data = tier.peek(entry.tenant, entry.key)
    if data is None:
        return None
    blob = Blob.parse(data)
    blob.verify()
    if blob.identity.key != entry.key:
        raise CorruptBlob(f"It is the blob of {blob.identity.key}.")
    return blob


__all__ = [
    "MOST_REMOVED_BLINDLY",
    "YOUNG_SECONDS",
    "Examined",
    "Judge",
    "Judgement",
    "Verdict",
    "absent",
    "examine",
    "remove",
]
