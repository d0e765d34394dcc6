"""Readings of chunks: wanted, ready or failed, and which of them no document needs any more."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from app.core.catalog.batches import batches
from app.core.catalog.claims import held_document
from app.core.catalog.database import Database
from app.core.catalog.models import StoredChunk, StoredReading, StoredVersion
from app.core.catalog.records import ReadingRecord, WantedReading
from app.core.catalog.states import ReadingState, VersionState
from app.core.catalog.text import made_storable
from app.core.catalog.upsert import upsert


class Readings(Database):
    """A blob is stored between `want_readings` and `reading_ready`.

    So every blob has its row before it exists, a deletion finds it by that row, and a `reading_ready` that comes after
    the deletion finds no row and says so.
    """

    def want_readings(self, document_id: str, owner: str, wanted: Sequence[WantedReading]) -> None:
        """Note readings that are to be made for a document; failed ones are wanted anew, ready ones stay ready.

        Raises: WorkRefused.
        """
        with self._write() as session:
            held_document(session, document_id, owner)
            _want(session, wanted, self._clock())

    def want_preamble(self, wanted: WantedReading) -> None:
        """Note that a preamble's own reading is to be made; it belongs to no document."""
        with self._write() as session:
            _want(session, [wanted], self._clock())

    def reading_ready(self, tenant: str, key: str, n_tokens: int, size_bytes: int) -> bool:
        """Note that the blob is stored. False: nobody wants it any more, and the caller has to remove it."""
        return self._update_reading(
            tenant, key, {"state": ReadingState.READY, "n_tokens": n_tokens, "bytes": size_bytes, "error": None}
        )

    def reading_failed(self, tenant: str, key: str, error: str) -> bool:
        """Note why the reading could not be made. False: nobody wants it any more."""
        return self._update_reading(tenant, key, {"state": ReadingState.FAILED, "error": made_storable(error)})

    def readings(self, tenant: str, ids_hashes: Iterable[str]) -> list[ReadingRecord]:
        """Every reading of these token ids: all states, models and preambles, ordered by key."""
        return self._find(tenant, ids_hashes, orphans=False, excluding=None)

    def orphaned_keys(
        self, tenant: str, ids_hashes: Iterable[str], excluding: str | None = None
    ) -> list[ReadingRecord]:
        """Readings of these token ids that no chunk of a pending or current version has, ordered by key.

        The chunks of the document `excluding` do not count; those of a document being deleted never do.
        """
        return self._find(tenant, ids_hashes, orphans=True, excluding=excluding)

    def drop_readings(self, tenant: str, keys: Iterable[str]) -> int:
        """Forget these readings (their blobs are gone). Returns how many there were."""
        dropped = 0
        with self._write() as session:
            for batch in batches(keys):
                gone = session.scalars(
                    delete(StoredReading)
                    .where(StoredReading.tenant == tenant, StoredReading.key.in_(batch))
                    .returning(StoredReading.key)
                )
                dropped += len(gone.all())
        return dropped

    def kv_bytes(self, tenant: str) -> int:
        """Bytes of all blobs of ready readings, preambles' included."""
        query = select(func.coalesce(func.sum(StoredReading.bytes), 0)).where(
            StoredReading.tenant == tenant, StoredReading.state == ReadingState.READY
        )
        with self._read() as session:
            return int(session.scalar(query) or 0)

    def _update_reading(self, tenant: str, key: str, values: dict[str, str | int | None]) -> bool:
        with self._write() as session:
            updated = session.scalar(
                update(StoredReading)
                .where(StoredReading.tenant == tenant, StoredReading.key == key)
                .values(**values, updated_at=self._clock())
                .returning(StoredReading.key)
            )
            return updated is not None

    def _find(
        self, tenant: str, ids_hashes: Iterable[str], *, orphans: bool, excluding: str | None
    ) -> list[ReadingRecord]:
        query = select(StoredReading).where(StoredReading.tenant == tenant)
        if orphans:
            shared = (
                select(StoredChunk.id)
                .join(StoredVersion, StoredVersion.id == StoredChunk.version_id)
                .where(
                    StoredChunk.tenant == tenant,
                    StoredChunk.ids_hash == StoredReading.ids_hash,
                    StoredVersion.state != VersionState.RETIRED,
                )
            )
            if excluding is not None:
                shared = shared.where(StoredChunk.document_id != excluding)
            query = query.where(~shared.exists())
        found: list[ReadingRecord] = []
        with self._read() as session:
            for batch in batches(ids_hashes):
                found += [_record(row) for row in session.scalars(query.where(StoredReading.ids_hash.in_(batch)))]
        return sorted(found, key=lambda record: record.key)


def _want(session: Session, wanted: Sequence[WantedReading], now: datetime) -> None:
    insert = upsert(session, StoredReading)
    statement = insert.on_conflict_do_update(
        index_elements=["tenant", "key"],
        set_={"state": insert.excluded.state, "error": None, "updated_at": insert.excluded.updated_at},
        where=StoredReading.state == ReadingState.FAILED,
    )
    rows = [
        {
            "tenant": reading.tenant,
            "key": reading.key,
            "ids_hash": reading.ids_hash,
            "model_fingerprint": reading.model_fingerprint,
            "preamble_hash": reading.preamble_hash,
            "conditioning_hash": reading.conditioning_hash,
            "profile_id": reading.profile_id,
            "reading": reading.reading,
            "state": ReadingState.WANTED,
            "n_tokens": 0,
            "bytes": 0,
            "created_at": now,
            "updated_at": now,
        }
        for reading in sorted(wanted, key=lambda reading: (reading.tenant, reading.key))
    ]
    if rows:
        session.execute(statement, rows)


def _record(stored: StoredReading) -> ReadingRecord:
    return ReadingRecord(
        tenant=stored.tenant,
        key=stored.key,
        ids_hash=stored.ids_hash,
        model_fingerprint=stored.model_fingerprint,
        preamble_hash=stored.preamble_hash,
        conditioning_hash=stored.conditioning_hash,
        profile_id=stored.profile_id,
        reading=stored.reading,
        state=ReadingState(stored.state),
        n_tokens=stored.n_tokens,
        bytes=stored.bytes,
        error=stored.error,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )
