"""What the nightly job looks after besides pre-reading: a sample of blobs, limits, old counts and history, the
database's size."""

import logging
import secrets
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from app.core.catalog import ReadingRecord
from app.core.errors import PrereadError
from kvstore.levels import at_all_levels
from kvstore.lookup import longest_life
from kvstore.tiers.base import Entry
from kvstore.tiers.configured import TierOptions, configured_tiers
from kvstore.verification import MOST_REMOVED_BLINDLY, Judge, Judgement, Verdict, absent, remove
from workers.context import WorkerContext
from workers.missing import Fates, is_known, make_again

log = logging.getLogger(__name__)

_SAMPLE = 200
_KEY_BYTES = 32
_DAILY_AFTER = 12


def tend(context: WorkerContext, now: datetime) -> dict[str, Any]:
    """What was found and done, for the run's report; what did not answer is told there and left to the next night."""
    found: dict[str, Any] = {}
    steps: dict[str, Callable[[], Any]] = {
        "verified": lambda: verify_sample(context, now),
        "tiers": lambda: hold_to_limits(context),
        "rollup_rows_merged": lambda: coarsen(context, now),
        "history_removed": lambda: context.catalog.forget_history(now - timedelta(days=context.settings.history_days)),
        "audit_removed": lambda: context.catalog.forget_audit(now - timedelta(days=context.settings.audit_days)),
        "database_bytes_freed": context.catalog.compact,
    }
    for name, step in steps.items():
        try:
            found[name] = step()
        except PrereadError as error:
            log.warning("%s: %s", name, error)
            found[name] = {"problem": error.message}
    return found


def verify_sample(context: WorkerContext, now: datetime, first: str | None = None) -> dict[str, int]:
    """Read the blobs of some readings in every tier; what is amiss is removed and made again. Raises: TierDown.

    Keys are hashes, so those that follow a random one (`first`) are a random sample.
    """
    catalog = context.catalog
    first = first or secrets.token_hex(_KEY_BYTES)
    sample = catalog.ready_readings((context.settings.tenant, first), _SAMPLE)
    sample = sample or catalog.ready_readings(limit=_SAMPLE)
    tiers = context.store.tiers
    judge = Judge(context.codecs, partial(is_known, catalog))
    verdicts: Counter[Verdict] = Counter()
    everything: list[Judgement] = []
    for tier in tiers:
        judged = [
            judgement
            for reading in sample
            for name in at_all_levels([reading.key])
            if (judgement := judge(tier, Entry(reading.tenant, name, 0, None)))
        ]
        amiss = [each for each in judged if each.verdict is not Verdict.WHOLE]
        verdicts.update(each.verdict for each in judged)
        if len(amiss) == len(judged) and len(amiss) > MOST_REMOVED_BLINDLY:
            log.error("nothing of a sample in the %s tier can be used; is the key right? It is left there.", tier.name)
            continue
        remove(tier, judge, amiss)
        everything += amiss
    lost = _lost(sample, everything, partial(absent, tiers))
    for tenant in {reading.tenant for reading in lost}:
        fates = Fates(everything, now, longest_life(context.settings))
        make_again(catalog, [reading for reading in lost if reading.tenant == tenant], fates)
    return {str(verdict): count for verdict, count in verdicts.items()} | {"sampled": len(sample)}


def hold_to_limits(context: WorkerContext) -> dict[str, dict[str, int | None]]:
    """Bytes in each tier, by name. A tier evicts down to a limit that was lowered when it is opened anew."""
    key = context.settings.kv_encryption_key.get_secret_value()
    tiers = configured_tiers(TierOptions.from_settings(context.settings), key)
    stats = [tier.stats() for tier in tiers]
    return {each.name: {"bytes": each.bytes, "limit_bytes": each.limit_bytes} for each in stats}


def coarsen(context: WorkerContext, now: datetime) -> int:
    """By how many rows the counters' tables have become shorter."""
    age = timedelta(days=context.settings.rollup_days)
    daily = context.catalog.coarsen_rollups(now - _DAILY_AFTER * age, timedelta(days=1))
    return daily + context.catalog.coarsen_rollups(now - age, timedelta(hours=1))


def _lost(
    sample: list[ReadingRecord], amiss: list[Judgement], gone: Callable[[str, list[str]], set[str]]
) -> list[ReadingRecord]:
    """The readings of which something was amiss and nothing is left."""
    bad = {(each.entry.tenant, each.entry.key) for each in amiss}
    touched = [r for r in sample if any((r.tenant, name) in bad for name in at_all_levels([r.key]))]
    return [reading for reading in touched if gone(reading.tenant, [reading.key])]
