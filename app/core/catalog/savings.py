"""What chunk KV saved, answer by answer, in the same five-minute roll-ups as the lookups."""

from datetime import datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

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
        all measured ones of the day before it together. 0 for answers before the first that was measured.
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


def add_saving(session: Session, tenant: str, bucket: datetime, reuse: Reuse) -> None:
    """Add one answer to its bucket's sums."""
    tokens, microseconds = _measured(session, tenant, bucket)
    tokens += reuse.timed_tokens
    microseconds += _microseconds(reuse.timed_seconds)
    insert = upsert(session, StoredSaving)
    session.execute(
        insert.on_conflict_do_update(
            index_elements=["tenant", "bucket_start"],
            set_={name: getattr(StoredSaving, name) + insert.excluded[name] for name in _ADDED},
        ),
        {
            "tenant": tenant,
            "bucket_start": bucket,
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


def _measured(session: Session, tenant: str, bucket: datetime) -> tuple[int, int]:
    """Tokens, and the microseconds that computing them took, of the last day."""
    query = _sums("timed_tokens", "timed_microseconds").where(
        StoredSaving.tenant == tenant, StoredSaving.bucket_start > bucket - _MEASURED_OVER
    )
    tokens, microseconds = session.execute(query).one()
    return int(tokens), int(microseconds)


def _sums(*columns: str) -> Select[*tuple[int, ...]]:
    return select(*(func.coalesce(func.sum(getattr(StoredSaving, column)), 0) for column in columns))


def _microseconds(seconds: float) -> int:
    return round(1e6 * seconds)
