"""What lies in a folder of blobs and how valuable it is, in a SQLite file that all its processes share.

It counts and chooses what goes; whether a blob is there only its file tells. A row without a file costs room until
the next `reconcile`, a file without a row is not counted until then.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from kvstore.errors import TierDown
from kvstore.eviction import Eviction

Name: TypeAlias = tuple[str, str]
"""Tenant and key."""

_VERSION = 2
_SCHEMA = """
DROP TABLE IF EXISTS entries;
DROP TABLE IF EXISTS folder;
CREATE TABLE entries (
    tenant TEXT, key TEXT, bytes INTEGER, worth REAL, uses INTEGER, used_ns INTEGER, priority,
    PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE INDEX by_priority ON entries (priority, used_ns);
CREATE TABLE leases (tenant TEXT, key TEXT, reader TEXT, until_ns INTEGER, PRIMARY KEY (tenant, key, reader));
CREATE INDEX by_reader ON leases (reader);
CREATE TABLE folder (bytes INTEGER, entries INTEGER, floor REAL, eviction TEXT);
INSERT INTO folder VALUES (0, 0, 0.0, '');
CREATE TRIGGER came AFTER INSERT ON entries BEGIN
    UPDATE folder SET bytes = bytes + new.bytes, entries = entries + 1;
END;
CREATE TRIGGER changed AFTER UPDATE OF bytes ON entries BEGIN
    UPDATE folder SET bytes = bytes + new.bytes - old.bytes;
END;
CREATE TRIGGER went AFTER DELETE ON entries BEGIN
    UPDATE folder SET bytes = bytes - old.bytes, entries = entries - 1;
END;
"""
_LEASED = "SELECT tenant, key FROM leases WHERE until_ns > ?"
_LEAST_VALUABLE = """
SELECT tenant, key, bytes, priority FROM entries
WHERE (tenant, key) NOT IN (SELECT tenant, key FROM leases WHERE until_ns > ?) ORDER BY priority, used_ns LIMIT 64
"""
_LEASED_BYTES = """
SELECT ifnull(sum(bytes), 0) FROM entries
WHERE (tenant, key) IN (SELECT tenant, key FROM leases WHERE until_ns > ?)
"""
_SET_PRIORITIES = {
    Eviction.LRU: "UPDATE entries SET priority = used_ns",
    Eviction.VALUE: "UPDATE entries SET priority = (SELECT floor FROM folder) + uses * worth / max(bytes, 1)",
}
_SET_PRIORITY = {eviction: f"{every} WHERE tenant = ? AND key = ?" for eviction, every in _SET_PRIORITIES.items()}
_BUFFERED_USES = 32
_BUFFERED_NS = 10**9
_YOUNG_NS = 10 * 60 * 10**9  # no write takes that long
_BUSY_SECONDS = 5.0


class DiskIndex:
    """Thread-safe, and safe for several processes on one machine; the file must lie on a local file system.

    Every method raises sqlite3.Error when the file cannot be used.

    Args:
        path: made if it is not there.
        limit_bytes: of all entries together.
        clock_ns: nanoseconds since 1970.
    """

    def __init__(self, path: Path, limit_bytes: int, eviction: Eviction, clock_ns: Callable[[], int]) -> None:
        self._path = path
        self._limit_bytes = limit_bytes
        self._eviction = eviction
        self._clock_ns = clock_ns
        self._lock = Lock()
        self._uses: list[tuple[int, str, str]] = []
        self._flushed_ns = clock_ns()
        self._database = self._connect()

    def reserve(self, name: Name, nbytes: int, worth: float, remove: Callable[[Name], object]) -> None:
        """Count an entry that is about to be written, after `remove` of as many others as must go for it.

        Args:
            worth: what a hit saves, in any unit that all entries share.
        Raises: TierDown, with nothing removed, while readers hold what would have to go.
        """
        with self._lock, self._writing():
            self._flush()
            now = self._clock_ns()
            uses = self._forget(name)
            if self._leased_bytes(now) + nbytes > self._limit_bytes:
                raise TierDown(f"There is no room for {nbytes} bytes now: too much is being read.", "Store it later.")
            self._make_room(nbytes, now, remove)
            self._insert(name, nbytes, worth, max(uses, 1), now)

    def recount(self, name: Name, size: Callable[[], int | None]) -> None:
        """Bring one entry in line with its file. `size` looks at it while no other process is at the index, so that the
        last of several writers of one blob leaves what is true."""
        with self._lock, self._writing():
            nbytes = size()
            if nbytes is None:
                self._forget(name)
            elif self._database.execute("SELECT 1 FROM entries WHERE tenant = ? AND key = ?", name).fetchone():
                self._database.execute("UPDATE entries SET bytes = ? WHERE tenant = ? AND key = ?", (nbytes, *name))
            else:
                self._insert(name, nbytes, nbytes, 1, self._clock_ns())

    def used(self, name: Name) -> None:
        """Note a hit. Notes are written a few at a time."""
        with self._lock:
            now = self._clock_ns()
            self._uses.append((now, *name))
            if len(self._uses) >= _BUFFERED_USES or now - self._flushed_ns > _BUFFERED_NS:
                try:
                    with self._writing():
                        self._flush()
                finally:
                    # What cannot be written now must not pile up, nor be tried at every hit.
                    self._uses.clear()
                    self._flushed_ns = now

    def lease(self, names: Iterable[Name], reader: str, seconds: float) -> None:
        """Evict none of these for so long, or until the reader releases them."""
        now = self._clock_ns()
        until = now + int(seconds * 1e9)
        with self._lock, self._writing():
            self._database.execute("DELETE FROM leases WHERE until_ns <= ?", (now,))
            self._database.executemany(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", [(*name, reader, until) for name in names]
            )

    def release(self, reader: str) -> None:
        with self._lock, self._writing():
            self._database.execute("DELETE FROM leases WHERE reader = ?", (reader,))

    def reconcile(self, files: Mapping[Name, tuple[int, int]], remove: Callable[[Name], object]) -> None:
        """Bring the index in line with the bytes and nanoseconds since 1970 of the files there are.

        Rows that differ from their file stay while another process may be about to write it.
        """
        with self._lock, self._writing():
            self._flush()
            young = self._clock_ns() - _YOUNG_NS
            found = self._database.execute("SELECT tenant, key, bytes, used_ns FROM entries").fetchall()
            rows = {(tenant, key): (nbytes, used_ns) for tenant, key, nbytes, used_ns in found}
            for name, (nbytes, used_ns) in rows.items():
                if used_ns < young and nbytes != files.get(name, (0, 0))[0]:
                    self._forget(name)
            for name in files.keys() - self._names():
                nbytes, written_ns = files[name]
                self._insert(name, nbytes, nbytes, 1, written_ns)
            self._make_room(0, self._clock_ns(), remove)

    def totals(self) -> tuple[int, int]:
        """How many entries, and their bytes."""
        with self._lock:
            entries, nbytes = self._database.execute("SELECT entries, bytes FROM folder").fetchone()
        return entries, nbytes

    def leased(self) -> int:
        """How many names readers hold."""
        with self._lock:
            return len(set(self._database.execute(_LEASED, (self._clock_ns(),)).fetchall()))

    def close(self) -> None:
        with self._lock:
            with self._writing():
                self._flush()
            self._database.close()

    def _names(self) -> set[Name]:
        return set(self._database.execute("SELECT tenant, key FROM entries").fetchall())

    def _insert(self, name: Name, nbytes: int, worth: float, uses: int, used_ns: int) -> None:
        self._database.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, 0)", (*name, nbytes, worth, uses, used_ns)
        )
        self._set_priority(name)

    def _forget(self, name: Name) -> int:
        """How often the entry was used; 0: there was none."""
        row = self._database.execute("SELECT uses FROM entries WHERE tenant = ? AND key = ?", name).fetchone()
        self._database.execute("DELETE FROM entries WHERE tenant = ? AND key = ?", name)
        return row[0] if row else 0

    def _make_room(self, nbytes: int, now: int, remove: Callable[[Name], object]) -> None:
        """As far as leases allow."""
        total: int = self._database.execute("SELECT bytes FROM folder").fetchone()[0]
        while total + nbytes > self._limit_bytes:
            least = self._database.execute(_LEAST_VALUABLE, (now,)).fetchall()
            if not least:
                return
            for tenant, key, size, priority in least:
                if total + nbytes <= self._limit_bytes:
                    break
                # Files first: a row without one costs room, a file without a row would not be counted.
                remove((tenant, key))
                self._forget((tenant, key))
                total -= size
                if self._eviction is Eviction.VALUE:
                    self._database.execute("UPDATE folder SET floor = max(floor, ?)", (priority,))

    def _leased_bytes(self, now: int) -> int:
        leased: int = self._database.execute(_LEASED_BYTES, (now,)).fetchone()[0]
        return leased

    def _set_priority(self, name: Name) -> None:
        self._database.execute(_SET_PRIORITY[self._eviction], name)

    def _flush(self) -> None:
        for used_ns, *name in self._uses:
            self._database.execute(
                "UPDATE entries SET uses = uses + 1, used_ns = max(used_ns, ?) WHERE tenant = ? AND key = ?",
                (used_ns, *name),
            )
            self._set_priority((name[0], name[1]))
        self._uses.clear()
        self._flushed_ns = self._clock_ns()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.rollback()
            raise
        self._database.commit()

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = OFF")  # a machine that loses power loses counts, which files restore
            self._prepare(database)
        except BaseException:
            database.close()
            raise
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        database.execute("BEGIN IMMEDIATE")
        if database.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            for statement in _statements(_SCHEMA):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {_VERSION}")
        if database.execute("SELECT eviction FROM folder").fetchone()[0] != self._eviction:
            database.execute("UPDATE folder SET floor = 0, eviction = ?", (str(self._eviction),))
            database.execute(_SET_PRIORITIES[self._eviction])
        database.commit()


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


__all__ = ["DiskIndex", "Name"]
