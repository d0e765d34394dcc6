"""Old roll-ups made coarser, and the database file made smaller. No total changes."""

from collections import Counter
from contextlib import closing
from datetime import datetime, timedelta
from sqlite3 import OperationalError
from typing import Any

from sqlalchemy import delete, text
from sqlalchemy.orm import Session

from app.core.catalog.buckets import bucket_start
from app.core.catalog.database import Database
from app.core.catalog.errors import DatabaseUnavailable
from app.core.catalog.models import StoredRollup, StoredSaving
from app.core.catalog.request_models import StoredFirstToken
from app.core.catalog.upsert import upsert

_NAMES: dict[Any, tuple[str, ...]] = {
    StoredRollup: ("tenant", "outcome", "detail"),
    StoredSaving: ("tenant",),
    StoredFirstToken: ("tenant", "outcome", "within_ms"),
}
_MOST_FREE = 0.2  # of a SQLite file's pages, before rewriting it is worth it


class Compaction(Database):
    def coarsen_rollups(self, older_than: datetime, size: timedelta) -> int:
        """Add up the five-minute rows, of every tenant, from before the bucket that holds `older_than`, in buckets of
        `size` that begin at whole multiples of it in UTC. Returns by how many rows the tables have become shorter.

        All in one transaction: whoever adds the rows up sees the same sums before, meanwhile and after.
        """
        end = bucket_start(older_than, size)
        with self._write() as session:
            _keep_counters_out(session)
            return sum(_coarsen(session, table, names, end, size) for table, names in _NAMES.items())

    def compact(self) -> int:
        """Give a SQLite file's unused pages back, and empty its write-ahead log; returns the bytes of the pages.

        Postgres does the like by itself.
        """
        if self._reading.dialect.name != "sqlite":
            return 0
        # The engine's own connections begin a transaction first, and none of this works in one.
        with closing(self._reading.raw_connection()) as connection:
            try:
                return _compact_sqlite(connection.driver_connection)
            except OperationalError as error:
                raise DatabaseUnavailable(f"The database cannot be compacted now: {error}", "It is busy.") from error


def _keep_counters_out(session: Session) -> None:
    """Until the transaction ends: they lock rows in an order of their own. SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        tables = ", ".join(table.__tablename__ for table in _NAMES)
        session.execute(text(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE"))


def _compact_sqlite(connection: Any) -> int:
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    worth_it = free > _MOST_FREE * pages
    if worth_it:
        connection.execute("VACUUM")
    connection.execute("PRAGMA optimize")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return free * size if worth_it else 0


def _coarsen(session: Session, table: Any, names: tuple[str, ...], end: datetime, size: timedelta) -> int:
    columns = [column.name for column in table.__table__.columns]
    counted = [name for name in columns if name not in (*names, "bucket_start")]
    # What is deleted is what is added up: a row that somebody counts into meanwhile is either in both or in neither.
    gone = session.execute(
        delete(table)
        .where(table.bucket_start < end)
        .returning(*(getattr(table, name) for name in columns)),
        execution_options={"synchronize_session": False},
    ).mappings().all()  # fmt: skip
    sums: dict[tuple[Any, ...], Counter[str]] = {}
    for row in gone:
        bucket = (*(row[name] for name in names), bucket_start(row["bucket_start"], size))
        sums.setdefault(bucket, Counter()).update({name: row[name] for name in counted})
    rows = [dict(zip((*names, "bucket_start"), bucket, strict=True), **total) for bucket, total in sums.items()]
    if rows:
        insert = upsert(session, table)
        session.execute(
            insert.on_conflict_do_update(
                index_elements=[*names, "bucket_start"],
                set_={name: getattr(table, name) + insert.excluded[name] for name in counted},
            ),
            rows,
        )
    return len(gone) - len(rows)
