"""Working off tombstones, so that what was deleted is gone from everywhere for good.

*Nothing forbidden stays.* A tombstone is written before anything is removed, in the transaction that drops the reading.
While it stands its key is emptied again and again, also of what a write that was in flight brings after the first
time, and of what a tier held that was down; and no question is offered the key. It ends when every tier and the engine
have answered at a moment when no write of that time can be in flight any more.

*Nothing wanted is harmed.* Who wants the chunk anew empties the key everywhere, then revives it, and makes its blob
only afterwards: under a standing tombstone there is never a blob worth keeping. Whether it stands is read right before
each emptying; if it is revived in that very moment the new blob is lost, and made again like any that is missing. A
late write over the new blob is of the same tokens; it is told by its passage, and looked for as often.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from app.core.catalog import Tombstone
from app.core.errors import PrereadError
from kvstore.errors import TierDown
from kvstore.remains import behind_another_passage
from workers.context import WorkerContext
from workers.purge import NotPurged

log = logging.getLogger(__name__)

IN_FLIGHT = timedelta(hours=1)
"""For so long a write may come after the deletion that forbids it. A write is allowed right before it is made, and a
try of a tier ends within seconds; what takes longer is a process that was stopped in between and goes on, or a machine
that was suspended. Raw captures are swept at the same age."""

KEPT = timedelta(days=30)
"""For so long after its end a tombstone proves what became of its key (`preread verify --purged`)."""

_BATCH = 500


def purge_again(context: WorkerContext, now: datetime) -> None:
    """Empty a batch of the keys that are due once more, and end the tombstones that may end."""
    problems: dict[str, PrereadError] = {}
    due = sorted(context.catalog.due_tombstones(now, _BATCH), key=lambda tombstone: tombstone.tenant)
    for tenant, group in groupby(due, key=lambda tombstone: tombstone.tenant):
        tombstones = list(group)
        ending = [tombstone for tombstone in tombstones if tombstone.deleted_at + IN_FLIGHT <= now]
        unfinished = [*_empty(tenant, tombstones, context), *_look_after_revived(tenant, tombstones, context)]
        if not unfinished:
            context.catalog.tombstones_purged(ending, now)
        context.catalog.postpone_tombstones(
            {tombstone: now if unfinished else next_try(tombstone.deleted_at, now) for tombstone in tombstones}
        )
        problems |= {problem.code: problem for problem in unfinished}
    for problem in problems.values():
        log.warning("what was deleted is removed later: %s", problem)
    context.catalog.drop_tombstones(now - KEPT)


def next_try(deleted_at: datetime, now: datetime) -> datetime:
    """After a try at which everything answered: ever later, and once at the end."""
    return min(now + (now - deleted_at), max(deleted_at + IN_FLIGHT, now))


def _empty(tenant: str, tombstones: Sequence[Tombstone], context: WorkerContext) -> list[PrereadError]:
    """What did not answer."""
    keys = [tombstone.key for tombstone in tombstones if tombstone.stands]
    standing = context.catalog.standing_tombstones(tenant, keys)
    return context.purge.under(tenant, standing) if standing else []


def _look_after_revived(tenant: str, tombstones: Sequence[Tombstone], context: WorkerContext) -> list[PrereadError]:
    """Remove what a late write brought over a reading that was made anew. What did not answer."""
    revived = [tombstone.key for tombstone in tombstones if not tombstone.stands]
    readings = context.catalog.readings_under(tenant, revived)
    passages = {reading.key: reading.conditioning_hash for reading in readings if reading.conditioning_hash}
    if not passages:
        return []
    try:
        foreign: set[str] = set()
        for tier in context.store.tiers:
            foreign |= behind_another_passage(tier, tenant, passages)
        if foreign:
            context.purge.keys(tenant, sorted(foreign))
    except (TierDown, NotPurged) as error:
        return [error]
    return []
