"""What chunk KV saved, answer by answer, in the same five-minute roll-ups as the lookups."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.core.catalog.buckets import bucket_start
from app.core.catalog.database import Database
from app.core.catalog.models import StoredSaving
from app.core.catalog.records import Reuse, Saving
from app.core.catalog.upsert import upsert

_MEASURED_OVER = timedelta(days=1)

_ADDED = (
    "reused_tokens",
    "fresh_tokens",
    "timed_tokens",
    "timed_microseconds",
    "saved_microseconds",
    "load_microseconds",
    "loaded_bytes",
    "loaded_bytes_in_16_bits",
)


class Savings(Database):
    def saving_totals(self, tenant: str) -> Saving:
        """Sums over all time.

        `saved_seconds` is an estimate: of each answer its reused tokens, times the seconds that a computed token took,
        all those together that were measured within a day before the last that was. 0 before the first.
        """
        with self._read() as session:
            row = session.execute(_sums(*_ADDED).where(StoredSaving.tenant == tenant)).one()
        sums = dict(zip(_ADDED, map(int, row), strict=True))
        return Saving(
            reused_tokens=sums["reused_tokens"],
            fresh_tokens=sums["fresh_tokens"],
            saved_seconds=sums["saved_microseconds"] / 1e6,
            load_seconds=sums["load_microseconds"] / 1e6,
            loaded_bytes=sums["loaded_bytes"],
            loaded_bytes_in_16_bits=sums["loaded_bytes_in_16_bits"],
        )

    def tokens_computed(self, tenant: str, tokens: int, seconds: float) -> None:
        """Note how long it took to compute these tokens in one prefill: what such tokens will save when reused."""
        timed = {"timed_tokens": tokens, "timed_microseconds": _microseconds(seconds)}
        with self._write() as session:
            _add(session, tenant, bucket_start(self._clock()), timed)


def add_saving(session: Session, tenant: str, bucket: datetime, reuse: Reuse) -> None:
    """Add one answer to its bucket's sums."""
    tokens, microseconds = _measured(session, tenant, bucket)
    tokens += reuse.timed_tokens
    microseconds += _microseconds(reuse.timed_seconds)
    _add(
        session,
        tenant,
        bucket,
        {
            "reused_tokens": reuse.reused_tokens,
            "fresh_tokens": reuse.fresh_tokens,
            "timed_tokens": reuse.timed_tokens,
            "timed_microseconds": _microseconds(reuse.timed_seconds),
            "saved_microseconds": reuse.reused_tokens * microseconds // tokens if tokens else 0,
            "load_microseconds": _microseconds(reuse.load_seconds),
            "loaded_bytes": reuse.loaded_bytes,
            "loaded_bytes_in_16_bits": reuse.loaded_bytes_in_16_bits,
        },
    )


def _add(session: Session, tenant: str, bucket: datetime, values: Mapping[str, int]) -> None:
    insert = upsert(session, StoredSaving)
    session.execute(
        insert.on_conflict_do_update(
            index_elements=["tenant", "bucket_start"],
            set_={name: getattr(StoredSaving, name) + insert.excluded[name] for name in values},
        ),
        {"tenant": tenant, "bucket_start": bucket, **dict.fromkeys(_ADDED, 0), **values},
    )


def _measured(session: Session, tenant: str, bucket: datetime) -> tuple[int, int]:
    """Tokens, and the microseconds that computing them took, of the last day on which any were measured."""
    own = StoredSaving.tenant == tenant
    last = session.scalar(
        select(func.max(StoredSaving.bucket_start)).where(
            own, StoredSaving.timed_tokens > 0, StoredSaving.bucket_start <= bucket
        )
    )
    if last is None:
        return 0, 0
    query = _sums("timed_tokens", "timed_microseconds").where(own, StoredSaving.bucket_start > last - _MEASURED_OVER)
    tokens, microseconds = session.execute(query).one()
    return int(tokens), int(microseconds)


def _sums(*columns: str) -> Select[*tuple[int, ...]]:
    return select(*(func.coalesce(func.sum(getattr(StoredSaving, column)), 0) for column in columns))


def _microseconds(seconds: float) -> int:
    return round(1e6 * seconds)
