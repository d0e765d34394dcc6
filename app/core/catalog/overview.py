"""Numbers about documents for people: table rows, states, chunks that are pre-read."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.orm import Session

from app.core.catalog.database import Database
from app.core.catalog.documents import document_records, live_versions
from app.core.catalog.errors import DocumentNotFound
from app.core.catalog.listing import EVERYTHING, DocumentFilter, page_of_documents
from app.core.catalog.models import StoredChunk, StoredDocument, StoredDocumentLookups, StoredReading, StoredVersion
from app.core.catalog.records import ChunkCounts, CountedReadings, Document, DocumentRow, DocumentTable, KvAtRest
from app.core.catalog.states import DocumentState, ReadingState, VersionState

_OPENING = CountedReadings()


class Overview(Database):
    """`chunks_ready` counts chunks whose counted readings are all ready, `kv_bytes` blobs of either reading.

    Both look only at the counted model and preamble. Blobs that documents share count in each.
    """

    def document_table(
        self,
        tenant: str,
        limit: int = 50,
        offset: int = 0,
        chosen: DocumentFilter = EVERYTHING,
        after: str | None = None,
        *,
        counted: CountedReadings = _OPENING,
    ) -> DocumentTable:
        """The same page of documents as `list_documents`, with their numbers. Raises: BadCursor, BadLabel."""
        with self._read() as session:
            page = page_of_documents(session, tenant, limit, offset, chosen, after)
            return DocumentTable(tuple(_rows(session, page.stored, counted)), page.total, page.following)

    def document_row(self, tenant: str, document_id: str, *, counted: CountedReadings = _OPENING) -> DocumentRow:
        """One document with its numbers. Raises DocumentNotFound."""
        with self._read() as session:
            stored = session.get(StoredDocument, document_id)
            if stored is None or stored.tenant != tenant:
                raise DocumentNotFound(f"There is no document {document_id}.", "List the documents to see their ids.")
            return _rows(session, [stored], counted)[0]

    def state_counts(self, tenant: str) -> dict[DocumentState, int]:
        """How many documents are in each state; states without any are left out."""
        query = (
            select(StoredDocument.state, func.count())
            .where(StoredDocument.tenant == tenant)
            .group_by(StoredDocument.state)
        )
        with self._read() as session:
            return {DocumentState(state): count for state, count in session.execute(query)}

    def reading_counts(self, tenant: str) -> dict[ReadingState, int]:
        """How many readings, preambles' included, are in each state; states without any are left out."""
        query = (
            select(StoredReading.state, func.count())
            .where(StoredReading.tenant == tenant)
            .group_by(StoredReading.state)
        )
        with self._read() as session:
            return {ReadingState(state): count for state, count in session.execute(query)}

    def kv_at_rest(self, tenant: str) -> KvAtRest:
        """Bytes of all blobs of ready readings, preambles' included, each counted once however many tiers have it."""
        known = case((StoredReading.bytes_in_16_bits.is_not(None), StoredReading.bytes), else_=0)
        sums = (StoredReading.bytes, known, StoredReading.bytes_in_16_bits)
        query = select(*(func.coalesce(func.sum(each), 0) for each in sums)).where(
            StoredReading.tenant == tenant, StoredReading.state == ReadingState.READY
        )
        with self._read() as session:
            return KvAtRest(*map(int, session.execute(query).one()))

    def chunk_counts(self, tenant: str, *, counted: CountedReadings = _OPENING) -> ChunkCounts:
        """Chunks of all published versions."""
        current = (
            select(func.count())
            .select_from(StoredChunk)
            .join(StoredVersion, StoredVersion.id == StoredChunk.version_id)
            .where(StoredChunk.tenant == tenant, StoredVersion.state == VersionState.CURRENT)
        )
        preread = current.where(*_all_ready(counted))
        with self._read() as session:
            return ChunkCounts(session.scalar(current) or 0, session.scalar(preread) or 0)


@dataclass(frozen=True)
class _Sizes:
    chunks: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class _Kv:
    chunks_ready: int = 0
    kv_bytes: int = 0


def _all_ready(counted: CountedReadings) -> list[ColumnElement[bool]]:
    """True for chunks that have every counted reading."""
    return [
        select(StoredReading.key).where(_ready(counted), StoredReading.reading == reading).exists()
        for reading in counted.readings
    ]


def _ready(counted: CountedReadings) -> ColumnElement[bool]:
    """Joins chunks to their ready readings."""
    conditions = [
        StoredReading.tenant == StoredChunk.tenant,
        StoredReading.ids_hash == StoredChunk.ids_hash,
        StoredReading.state == ReadingState.READY,
    ]
    if counted.model_fingerprint is not None:
        conditions.append(StoredReading.model_fingerprint == counted.model_fingerprint)
    if counted.preamble_hash is not None:
        conditions.append(StoredReading.preamble_hash == counted.preamble_hash)
    return and_(*conditions)


def _rows(session: Session, stored: Sequence[StoredDocument], counted: CountedReadings) -> list[DocumentRow]:
    documents = document_records(session, stored)
    ids = [document.id for document in documents]
    shown = {document.id: document.current_version_id or document.pending_version_id for document in documents}
    versions = {version.id: version for version in live_versions(session, ids)}
    sizes = _sizes(session, list(versions))
    kv = _kv(session, list(versions), counted)
    lookups = {
        row.document_id: row
        for row in session.scalars(select(StoredDocumentLookups).where(StoredDocumentLookups.document_id.in_(ids)))
    }

    def row(document: Document) -> DocumentRow:
        version_id = shown[document.id] or ""
        version = versions.get(version_id)
        size = sizes.get(version_id, _Sizes())
        stock = kv.get(version_id, _Kv())
        looked_up = lookups.get(document.id)
        return DocumentRow(
            document=document,
            media_type=version.media_type if version else "",
            size_bytes=version.size_bytes if version else 0,
            pages=version.pages if version else None,
            chunks=size.chunks,
            tokens=size.tokens,
            chunks_ready=stock.chunks_ready,
            kv_bytes=stock.kv_bytes,
            hits=looked_up.hits if looked_up else 0,
            misses=looked_up.misses if looked_up else 0,
        )

    return [row(document) for document in documents]


def _sizes(session: Session, version_ids: Sequence[str]) -> dict[str, _Sizes]:
    query = (
        select(StoredChunk.version_id, func.count(), func.sum(StoredChunk.n_tokens))
        .where(StoredChunk.version_id.in_(version_ids))
        .group_by(StoredChunk.version_id)
    )
    return {version_id: _Sizes(chunks, int(tokens)) for version_id, chunks, tokens in session.execute(query)}


def _kv(session: Session, version_ids: Sequence[str], counted: CountedReadings) -> dict[str, _Kv]:
    preread = (
        select(StoredChunk.version_id, func.count())
        .where(StoredChunk.version_id.in_(version_ids), *_all_ready(counted))
        .group_by(StoredChunk.version_id)
    )
    # Two equal chunks of one document share one blob, hence the distinct.
    blobs = (
        select(StoredChunk.version_id, StoredReading.key, StoredReading.bytes)
        .join(StoredReading, _ready(counted))
        .where(StoredChunk.version_id.in_(version_ids))
        .distinct()
        .subquery()
    )
    stored = select(blobs.c.version_id, func.sum(blobs.c.bytes)).group_by(blobs.c.version_id)
    chunks_ready = dict(session.execute(preread).all())
    return {version_id: _Kv(chunks_ready.get(version_id, 0), int(size)) for version_id, size in session.execute(stored)}
