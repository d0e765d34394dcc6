"""Readings of chunks: wanted, ready or failed, and which of them no document needs any more."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, delete, or_, select, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from app.core.catalog.batches import batches
from app.core.catalog.claims import held_document
from app.core.catalog.database import Database
from app.core.catalog.models import StoredChunk, StoredDocument, StoredReading, StoredVersion
from app.core.catalog.records import ReadingRecord, WantedReading
from app.core.catalog.states import DocumentState, Gone, ReadingState, VersionState
from app.core.catalog.text import made_storable
from app.core.catalog.upsert import upsert


class Readings(Database):
    """A blob is stored between `want_readings` and `reading_ready`.

    So every blob has its row before it exists, a deletion finds it by that row, and a `reading_ready` that comes after
    the deletion finds no row and says so.
    """

    def want_readings(self, document_id: str, owner: str, wanted: Sequence[WantedReading]) -> None:
        """Note readings that are to be made for a document.

        Failed ones are wanted anew, ready ones stay ready; those made behind another passage are stale.
        Raises: WorkRefused.
        """
        with self._write() as session:
            held_document(session, document_id, owner)
            _want(session, wanted, self._clock())

    def want_preamble(self, wanted: WantedReading) -> None:
        """Note that a preamble's own reading is to be made; it belongs to no document."""
        with self._write() as session:
            _want(session, [wanted], self._clock())

    def wish_reading(self, wanted: WantedReading) -> bool:
        """Note that an answer could have used this reading. False: no live document has the chunk any more."""
        with self._write() as session:
            live = (
                select(StoredDocument.id)
                .join(StoredChunk, StoredChunk.document_id == StoredDocument.id)
                .where(
                    StoredChunk.tenant == wanted.tenant,
                    StoredChunk.ids_hash == wanted.ids_hash,
                    StoredDocument.state != DocumentState.DELETING,
                )
                .limit(1)
                .with_for_update(read=True, key_share=True, of=StoredDocument)  # a deletion waits, or came first
            )
            if session.scalar(live) is None:
                return False
            _want(session, [wanted], self._clock())
            return True

    def reading_ready(
        self,
        tenant: str,
        key: str,
        n_tokens: int,
        size_bytes: int,
        passage_version_id: str | None = None,
        bytes_in_16_bits: int | None = None,
    ) -> bool:
        """Note that the blob is stored, read behind text of that version if of any.

        False: nobody wants it any more, or not behind that text, and the caller has to remove it.
        """
        made = {
            "state": ReadingState.READY,
            "n_tokens": n_tokens,
            "bytes": size_bytes,
            "bytes_in_16_bits": bytes_in_16_bits,
            "gone": None,
            "error": None,
            "error_code": None,
        }
        wanted = StoredReading.passage_version_id.is_not_distinct_from(passage_version_id)
        return self._update_reading(tenant, key, made, wanted)

    def reading_failed(self, tenant: str, key: str, error: str, code: str | None = None) -> bool:
        """Note why the reading could not be made, with the error's code. False: nobody wants it any more."""
        was_ready = and_(StoredReading.state == ReadingState.READY, StoredReading.gone.is_(None))
        failed = {
            "state": ReadingState.FAILED,
            "gone": case((was_ready, Gone.EVICTED.value), else_=StoredReading.gone),
            "error": made_storable(error),
            "error_code": code,
        }
        return self._update_reading(tenant, key, failed)

    def attribute_readings(self, tenant: str, keys: Iterable[str], version_id: str) -> None:
        """The passage of these readings is now text of that version."""
        self._update_all(tenant, keys, {"passage_version_id": version_id})

    def readings_behind(self, tenant: str, version_ids: Iterable[str]) -> list[ReadingRecord]:
        """Readings, of whatever chunk, whose passage is text of these versions, ordered by key."""
        query = select(StoredReading).where(StoredReading.tenant == tenant)
        return self._select(query, StoredReading.passage_version_id, version_ids)

    def readings_behind_foreign_text(self, tenant: str, ids_hashes: Iterable[str]) -> list[ReadingRecord]:
        """Those readings of these token ids, ordered by key, whose passage is text of one document while another live
        document has the chunk too."""
        shaping, sharing = aliased(StoredVersion), aliased(StoredVersion)
        others = (
            select(StoredChunk.id)
            .join(sharing, sharing.id == StoredChunk.version_id)
            .where(
                StoredChunk.tenant == tenant,
                StoredChunk.ids_hash == StoredReading.ids_hash,
                StoredChunk.document_id.is_distinct_from(shaping.document_id),
                sharing.state != VersionState.RETIRED,
            )
        )
        query = (
            select(StoredReading)
            .outerjoin(shaping, shaping.id == StoredReading.passage_version_id)
            .where(StoredReading.tenant == tenant, StoredReading.passage_version_id.is_not(None), others.exists())
        )
        return self._select(query, StoredReading.ids_hash, ids_hashes)

    def readings(self, tenant: str, ids_hashes: Iterable[str]) -> list[ReadingRecord]:
        """Every reading of these token ids: all states, models and preambles, ordered by key."""
        return self._select(
            select(StoredReading).where(StoredReading.tenant == tenant), StoredReading.ids_hash, ids_hashes
        )

    def readings_under(self, tenant: str, keys: Iterable[str]) -> list[ReadingRecord]:
        """Those of these keys, ordered by key."""
        return self._select(select(StoredReading).where(StoredReading.tenant == tenant), StoredReading.key, keys)

    def ready_readings(self, after: tuple[str, str] = ("", ""), limit: int = 500) -> list[ReadingRecord]:
        """Ready readings of every tenant by tenant and key, behind `after`.

        Left out are those whose chunk only retired versions have: they are being removed.
        """
        chunk = select(StoredChunk.id).where(
            StoredChunk.tenant == StoredReading.tenant, StoredChunk.ids_hash == StoredReading.ids_hash
        )
        name = tuple_(StoredReading.tenant, StoredReading.key)
        query = (
            select(StoredReading)
            .where(name > after, StoredReading.state == ReadingState.READY)
            .where(or_(~chunk.exists(), in_live_version(chunk).exists()))
            .order_by(StoredReading.tenant, StoredReading.key)
            .limit(limit)
        )
        with self._read() as session:
            return [_record(row) for row in session.scalars(query)]

    def readings_lost(self, tenant: str, keys: Iterable[str], gone: Gone) -> None:
        """The blobs of these ready readings are in no tier any more: they are wanted anew."""
        wanted = {"state": ReadingState.WANTED, "n_tokens": 0, "bytes": 0, "gone": gone, "updated_at": self._clock()}
        self._update_all(tenant, keys, wanted, StoredReading.state == ReadingState.READY)

    def note_gone(self, found: Iterable[tuple[ReadingRecord, Gone]]) -> None:
        """Note what became of these ready readings' blobs, where that is not known; not if one was made again since."""
        with self._write() as session:
            for record, gone in sorted(found, key=lambda each: (each[0].tenant, each[0].key)):
                session.execute(
                    update(StoredReading)
                    .where(StoredReading.tenant == record.tenant, StoredReading.key == record.key)
                    .where(StoredReading.state == ReadingState.READY, StoredReading.gone.is_(None))
                    .where(StoredReading.updated_at == record.updated_at)
                    .values(gone=gone)
                )

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

    def _update_all(
        self, tenant: str, keys: Iterable[str], values: dict[str, Any], *conditions: ColumnElement[bool]
    ) -> None:
        with self._write() as session:
            for batch in batches(keys):
                session.execute(
                    update(StoredReading)
                    .where(StoredReading.tenant == tenant, StoredReading.key.in_(batch), *conditions)
                    .values(**values)
                )

    def _update_reading(
        self, tenant: str, key: str, values: dict[str, Any], *conditions: ColumnElement[bool]
    ) -> bool:
        with self._write() as session:
            updated = session.scalar(
                update(StoredReading)
                .where(StoredReading.tenant == tenant, StoredReading.key == key, *conditions)
                .values(**values, updated_at=self._clock())
                .returning(StoredReading.key)
            )
            return updated is not None

    def _select(
        self, query: Select[StoredReading], column: InstrumentedAttribute[Any], values: Iterable[str]
    ) -> list[ReadingRecord]:
        found: list[ReadingRecord] = []
        with self._read() as session:
            for batch in batches(values):
                found += [_record(row) for row in session.scalars(query.where(column.in_(batch)))]
        return sorted(found, key=lambda record: record.key)


def in_live_version(chunk: Select[str]) -> Select[str]:
    """Those of the chunks that some version has which is not retired."""
    return chunk.join(StoredVersion, StoredVersion.id == StoredChunk.version_id).where(
        StoredVersion.state != VersionState.RETIRED
    )


def _want(session: Session, wanted: Sequence[WantedReading], now: datetime) -> None:
    insert = upsert(session, StoredReading)
    passage_changed = StoredReading.conditioning_hash != insert.excluded.conditioning_hash
    is_stale = StoredReading.state == ReadingState.STALE
    statement = insert.on_conflict_do_update(
        index_elements=["tenant", "key"],
        set_={
            # Stale ones stay so until they are made: their old blobs may not have been removed yet.
            "state": case((or_(passage_changed, is_stale), ReadingState.STALE.value), else_=insert.excluded.state),
            "conditioning_hash": insert.excluded.conditioning_hash,
            "passage_version_id": insert.excluded.passage_version_id,
            "error": None,
            "updated_at": insert.excluded.updated_at,
        },
        where=or_(passage_changed, is_stale, StoredReading.state == ReadingState.FAILED),
    )
    rows = [
        {
            "tenant": reading.tenant,
            "key": reading.key,
            "ids_hash": reading.ids_hash,
            "model_fingerprint": reading.model_fingerprint,
            "preamble_hash": reading.preamble_hash,
            "conditioning_hash": reading.conditioning_hash,
            "passage_version_id": reading.passage_version_id,
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
        passage_version_id=stored.passage_version_id,
        profile_id=stored.profile_id,
        reading=stored.reading,
        state=ReadingState(stored.state),
        n_tokens=stored.n_tokens,
        bytes=stored.bytes,
        error=stored.error,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        gone=None if stored.gone is None else Gone(stored.gone),
        error_code=stored.error_code,
        bytes_in_16_bits=stored.bytes_in_16_bits,
    )
