"""The catalog against the tiers: what is known of a blob, and which blobs are missing.

What all prompts share has readings of its own in the catalog, noted like a chunk's before it is made
(`Readings.want_preamble`), so nothing that is pre-read is unknown.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby

from app.core.catalog import Catalog, DocumentState, Gone, ReadingRecord
from kvstore.identity import BlobIdentity
from kvstore.levels import at_all_levels
from kvstore.lookup import fate
from kvstore.tiers.base import Tier
from kvstore.verification import Judgement, Verdict, absent

_SERVING = (DocumentState.INDEXED, DocumentState.PREREAD)


def is_known(catalog: Catalog, tenant: str, blob: BlobIdentity) -> bool:
    """Whether the catalog has the reading that a blob of whatever level is of."""
    readings = catalog.readings(tenant, [blob.ids_hash])
    return blob.key in at_all_levels(reading.key for reading in readings)


def missing_readings(catalog: Catalog, tiers: Sequence[Tier]) -> Iterator[list[ReadingRecord]]:
    """Readings that are ready and in no tier at any level, a tenant's in each list. Raises: TierDown."""
    after = ("", "")
    while page := catalog.ready_readings(after):
        for tenant, readings in groupby(page, key=lambda reading: reading.tenant):
            gone = absent(tiers, tenant, [reading.key for reading in readings])
            if gone:
                # What was deleted while the tiers were asked is ready no more.
                still = catalog.ready_readings(after, len(page))
                yield [reading for reading in still if reading.tenant == tenant and reading.key in gone]
        after = (page[-1].tenant, page[-1].key)


@dataclass(frozen=True)
class Fates:
    """What became of readings that are in no tier any more.

    Args:
        amiss: what was found in the tiers, and removed.
        now: aware.
        life_seconds: the `longest_life` of the tiers.
    """

    amiss: Sequence[Judgement]
    now: datetime
    life_seconds: float | None

    def __call__(self, reading: ReadingRecord) -> Gone:
        levels = at_all_levels([reading.key])
        damaged = (self._damaged.get((reading.tenant, key)) for key in levels)
        return next(filter(None, damaged), None) or fate(reading, self.now, self.life_seconds)

    @cached_property
    def _damaged(self) -> dict[tuple[str, str], Gone]:
        return {
            (each.entry.tenant, each.entry.key): Gone(each.verdict)
            for each in self.amiss
            if each.verdict in {Verdict.CORRUPT, Verdict.STALE_PROFILE}
        }


def make_again(
    catalog: Catalog, missing: Sequence[ReadingRecord], fates: Callable[[ReadingRecord], Gone]
) -> set[str]:
    """Have these readings of one tenant made anew; returns the documents that wait to be pre-read for it.

    `fates` tells what became of each, for the next question that misses it. What all prompts share is made with
    whichever document is pre-read next. Repair wakes the workers.
    """
    if not missing:
        return set()
    tenant = missing[0].tenant
    for gone in Gone:
        catalog.readings_lost(tenant, [reading.key for reading in missing if fates(reading) is gone], gone)
    hashes = {reading.ids_hash for reading in missing}
    sharing = catalog.sharing_documents(tenant, hashes)
    documents = set().union(*sharing.values())
    if hashes - sharing.keys():
        serving = (d.id for d in catalog.published_documents(tenant) if d.state in _SERVING)
        documents.update(list(serving)[:1])
    return set(catalog.request_preread(tenant, documents))


__all__ = ["Fates", "is_known", "make_again", "missing_readings"]
