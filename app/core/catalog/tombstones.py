"""Tombstones: chunk KV that must be gone, noted before anything is removed and kept as evidence afterwards."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, func, select, update
from sqlalchemy.orm import Session

from app.core.catalog.batches import batches
from app.core.catalog.database import Database
from app.core.catalog.models import StoredChunk, StoredReading, StoredTombstone, StoredVersion
from app.core.catalog.readings import in_live_version
from app.core.catalog.records import Tombstone
from app.core.catalog.states import ReadingState
from app.core.catalog.upsert import upsert

_THE_DOCUMENT = ""  # the key of a deleted document's own tombstone: a deletion that left no chunk KV is known too

_STANDING = and_(StoredTombstone.purged_at.is_(None), StoredTombstone.revived_at.is_(None))


class Tombstones(Database):
    """A key is buried in the very transaction that drops its reading or marks it stale.

    While its tombstone *stands* nobody may use what lies under the key, whatever it is. It ends in one of two ways:
    *purged*, nothing is there nor can come any more; or *revived*, the chunk is wanted anew, what lay there being gone.
    """

    def bury_document(self, tenant: str, document_id: str, ids_hashes: Iterable[str]) -> list[str]:
        """As `bury_orphans`, for a document that is being deleted; the deletion is noted too, under the key ""."""
        with self._write() as session:
            now = self._clock()
            _bury(session, tenant, [(_THE_DOCUMENT, document_id)], now, purged_at=now)
            return _bury_orphans(session, tenant, document_id, ids_hashes, now)

    def bury_orphans(self, tenant: str, document_id: str, ids_hashes: Iterable[str]) -> list[str]:
        """Drop those readings of these token ids, by whatever model and preamble, that no live document has.

        `document_id`: the document that had them. Returns: their keys.
        """
        with self._write() as session:
            return _bury_orphans(session, tenant, document_id, ids_hashes, self._clock())

    def mark_stale(self, tenant: str, keys: Iterable[str]) -> None:
        """These readings' blobs, made or being made, must not be used; they are wanted behind another passage."""
        now = self._clock()
        with self._write() as session:
            for batch in batches(keys):
                chosen = StoredReading.tenant == tenant, StoredReading.key.in_(batch)
                buried = (
                    select(StoredReading.key, func.coalesce(StoredVersion.document_id, ""))
                    .outerjoin(StoredVersion, StoredVersion.id == StoredReading.passage_version_id)
                    .where(*chosen)
                    .order_by(StoredReading.key)
                    .with_for_update(of=StoredReading)
                )
                _bury(session, tenant, [(key, document_id) for key, document_id in session.execute(buried)], now)
                stale = {"state": ReadingState.STALE, "passage_version_id": None, "updated_at": now}
                session.execute(update(StoredReading).where(*chosen).values(**stale))

    def standing_tombstones(self, tenant: str, keys: Iterable[str]) -> list[Tombstone]:
        """Those that stand over these keys."""
        query = select(StoredTombstone).where(StoredTombstone.tenant == tenant, _STANDING)
        found: list[Tombstone] = []
        with self._read() as session:
            for batch in batches(keys):
                found += [_record(row) for row in session.scalars(query.where(StoredTombstone.key.in_(batch)))]
        return found

    def due_tombstones(self, now: datetime, limit: int) -> list[Tombstone]:
        """Those that are not purged and to be tried again by now, of every tenant, longest due first."""
        query = (
            select(StoredTombstone)
            .where(StoredTombstone.purged_at.is_(None), StoredTombstone.due_at <= now)
            .order_by(StoredTombstone.due_at, StoredTombstone.tenant, StoredTombstone.key)
            .limit(limit)
        )
        with self._read() as session:
            return [_record(row) for row in session.scalars(query)]

    def tombstones_of(self, tenant: str, document_id: str) -> list[Tombstone]:
        """Everything that a document's deletion, its replaced versions and its text before others' chunks left."""
        query = select(StoredTombstone).where(
            StoredTombstone.tenant == tenant, StoredTombstone.document_id == document_id
        )
        with self._read() as session:
            return [_record(row) for row in session.scalars(query.order_by(StoredTombstone.key))]

    def revive(self, tombstones: Iterable[Tombstone]) -> None:
        """What lay under these keys is gone from everywhere and wanted anew."""
        self._update_tombstones(tombstones, revived_at=self._clock())

    def engine_asked(self, tombstones: Iterable[Tombstone], *, forgot: bool) -> None:
        """Note whether the engine has emptied its memory of these keys."""
        moment = func.coalesce(StoredTombstone.forgotten_at, self._clock()) if forgot else None
        self._update_tombstones(tombstones, forgotten_at=moment)

    def postpone_tombstones(self, due: Mapping[Tombstone, datetime]) -> None:
        """Note when each is to be tried again."""
        for moment in set(due.values()):
            self._update_tombstones([each for each, at in due.items() if at == moment], due_at=moment)

    def tombstones_purged(self, tombstones: Iterable[Tombstone], at: datetime) -> None:
        """Nothing lies under these keys any more that must not, nor can it come."""
        self._update_tombstones(tombstones, purged_at=at)

    def drop_tombstones(self, purged_before: datetime) -> None:
        with self._write() as session:
            session.execute(delete(StoredTombstone).where(StoredTombstone.purged_at < purged_before))

    def _update_tombstones(self, tombstones: Iterable[Tombstone], **values: Any) -> None:
        """Those that were buried anew since stay as they are."""
        burials: dict[tuple[str, str, datetime], list[str]] = {}
        for each in tombstones:
            burials.setdefault((each.tenant, each.document_id, each.deleted_at), []).append(each.key)
        with self._write() as session:
            for (tenant, document_id, deleted_at), keys in sorted(burials.items()):
                for batch in batches(keys):
                    session.execute(
                        update(StoredTombstone)
                        .where(StoredTombstone.tenant == tenant, StoredTombstone.document_id == document_id)
                        .where(StoredTombstone.deleted_at == deleted_at, StoredTombstone.key.in_(batch))
                        .values(**values)
                    )


def _bury_orphans(
    session: Session, tenant: str, document_id: str, ids_hashes: Iterable[str], now: datetime
) -> list[str]:
    chunk = select(StoredChunk.id).where(
        StoredChunk.tenant == tenant, StoredChunk.ids_hash == StoredReading.ids_hash
    )
    keys: list[str] = []
    for batch in batches(ids_hashes):
        dropped = session.scalars(
            delete(StoredReading)
            .where(StoredReading.tenant == tenant, StoredReading.ids_hash.in_(batch))
            .where(~in_live_version(chunk).exists())
            .returning(StoredReading.key)
        )
        keys += dropped
    _bury(session, tenant, [(key, document_id) for key in sorted(keys)], now)
    return sorted(keys)


def _bury(
    session: Session, tenant: str, buried: Sequence[tuple[str, str]], now: datetime, purged_at: datetime | None = None
) -> None:
    """`buried`: keys, and the document that each is buried for."""
    fresh = {"deleted_at": now, "due_at": now, "forgotten_at": None, "revived_at": None, "purged_at": purged_at}
    statement = upsert(session, StoredTombstone).on_conflict_do_update(
        index_elements=["tenant", "key", "document_id"], set_=fresh
    )
    rows = [{"tenant": tenant, "key": key, "document_id": document_id, **fresh} for key, document_id in buried]
    if rows:
        session.execute(statement, rows)


def _record(stored: StoredTombstone) -> Tombstone:
    return Tombstone(
        tenant=stored.tenant,
        key=stored.key,
        document_id=stored.document_id,
        deleted_at=stored.deleted_at,
        forgotten_at=stored.forgotten_at,
        revived_at=stored.revived_at,
        purged_at=stored.purged_at,
    )
