"""One database, SQLite or Postgres, behind short read and write transactions."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import DataError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.orm import Session

from app.core.catalog.errors import DatabaseUnavailable, UnstorableText

_BUSY_TIMEOUT_SECONDS = 30
_SQLITE_BEGIN = "preread_sqlite_begin"


def utc_now() -> datetime:
    return datetime.now(UTC)


class Database:
    """Safe to share between threads. Build it after a fork: connections do not survive one.

    A write transaction on SQLite takes the write lock when it begins, so what it reads stays true until it ends; on
    Postgres the rows to be changed are locked by those who read them. Every method may raise DatabaseUnavailable, and
    UnstorableText for text that no database can hold. Errors never quote values: those are names and texts.
    """

    def __init__(self, database_url: str, clock: Callable[[], datetime] = utc_now) -> None:
        url = make_url(database_url)
        self._clock = clock
        if url.get_backend_name() == "sqlite":
            engine = _sqlite_engine(url)
        else:
            engine = create_engine(url, pool_pre_ping=True, hide_parameters=True)
        self._reading = engine
        self._writing = engine.execution_options(**{_SQLITE_BEGIN: "IMMEDIATE"})

    def close(self) -> None:
        self._reading.dispose()

    @contextmanager
    def _read(self) -> Iterator[Session]:
        with _answering(), Session(self._reading) as session:
            yield session

    @contextmanager
    def _write(self) -> Iterator[Session]:
        with _answering(), Session(self._writing) as session, session.begin():
            yield session

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        """A write transaction without a session."""
        with _answering(), self._writing.begin() as connection:
            yield connection


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise DatabaseUnavailable(
            f"The database does not answer: {error.orig}",
            "See that it runs, has room, and that PREREAD_DATABASE_URL is right.",
        ) from error
    except (DataError, UnicodeEncodeError) as error:
        raise UnstorableText(
            "What was sent contains characters that cannot be stored.",
            "Remove NUL and unpaired surrogate characters.",
        ) from error
    except NoConnectionFree as error:
        raise DatabaseUnavailable(
            "No connection to the database has become free.", "It hangs, or has too much to do; see its log."
        ) from error


def lock_name(connection: Connection, name: str) -> None:
    """Let one write transaction a name go on at a time; SQLite has only one anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


def _sqlite_engine(url: URL) -> Engine:
    if url.database:
        _make_folder(Path(url.database).parent)
    engine = create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_SECONDS}, hide_parameters=True)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseUnavailable(
            f"The database's folder {folder} cannot be made: {error.strerror}",
            "Set PREREAD_STATE_DIR to another folder.",
        ) from error


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # The driver's own BEGIN comes late, and not before DDL; transactions are begun by `_begin_sqlite` instead.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    _use_wal(connection)


def _use_wal(connection: sqlite3.Connection) -> None:
    # Unlike other statements, the first switch to WAL fails at once when another process opens the new file too.
    deadline = monotonic() + _BUSY_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
            sleep(0.01)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get(_SQLITE_BEGIN, 'DEFERRED')}")
