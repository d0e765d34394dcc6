"""Chunks of versions: text, place and token ids."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Row, Select, delete, exists, insert, select

from app.core.catalog.batches import batches
from app.core.catalog.database import Database
from app.core.catalog.label import LabelKind
from app.core.catalog.library_models import StoredLabel
from app.core.catalog.models import StoredChunk, StoredDocument, StoredVersion
from app.core.catalog.records import ChunkRecord, NewChunk
from app.core.catalog.states import VersionState
from app.core.catalog.text import storable
from app.core.catalog.versions import held_pending_version
from app.core.errors import BadInput


class Chunks(Database):
    def save_chunks(self, version_id: str, chunks: Sequence[NewChunk], *, owner: str) -> list[ChunkRecord]:
        """Make these the chunks of the pending version, in place of any saved before.

        Raises: WorkRefused; UnstorableText; BadInput for token ids outside 0 … 2^32-1.
        """
        for chunk in chunks:
            storable(chunk.text, "text")
            storable(chunk.heading or "", "heading")
        with self._write() as session:
            document, version = held_pending_version(session, version_id, owner)
            session.execute(delete(StoredChunk).where(StoredChunk.version_id == version_id))
            rows = [_row(chunk, version) for chunk in chunks]
            if rows:
                session.execute(insert(StoredChunk), rows)
            return [
                _record(StoredChunk(**row), document.name, document.title)
                for row in sorted(rows, key=lambda row: int(row["ordinal"]))
            ]

    def chunks_of(self, version_id: str) -> list[ChunkRecord]:
        """A version's chunks in order, whatever the version's state."""
        with self._read() as session:
            query = _SELECT.where(StoredChunk.version_id == version_id).order_by(StoredChunk.ordinal)
            return [_named(row) for row in session.execute(query)]

    def chunks_by_id(
        self,
        tenant: str,
        ids: Sequence[str],
        *,
        document_ids: Sequence[str] | None = None,
        collections: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> list[ChunkRecord]:
        """Those of the chunks that answer questions now, in the order of `ids`.

        Left out: unknown ids, other tenants' chunks, chunks of versions that are not current, and of documents that
        are being deleted. So are those of documents that are not among `document_ids`, or that have none of these
        collections or tags now; None: that does not matter, an empty list: nothing is left.
        """
        within: list[ColumnElement[bool]] = []
        if document_ids is not None:
            within.append(StoredChunk.document_id.in_(document_ids))
        within += [
            _has_one_of(kind, labels)
            for kind, labels in ((LabelKind.COLLECTION, collections), (LabelKind.TAG, tags))
            if labels is not None
        ]
        found: dict[str, ChunkRecord] = {}
        with self._read() as session:
            for batch in batches(ids):
                query = _SELECT.join(StoredVersion, StoredVersion.id == StoredChunk.version_id).where(
                    StoredChunk.tenant == tenant,
                    StoredChunk.id.in_(batch),
                    StoredVersion.state == VersionState.CURRENT,
                    *within,
                )
                found |= {row[0].id: _named(row) for row in session.execute(query)}
        return [found[chunk_id] for chunk_id in dict.fromkeys(ids) if chunk_id in found]

    def sharing_documents(
        self, tenant: str, ids_hashes: Iterable[str], excluding: str | None = None
    ) -> dict[str, set[str]]:
        """The live documents that have a chunk with these token ids, by ids hash; the document `excluding` left out."""
        query = (
            select(StoredChunk.ids_hash, StoredChunk.document_id)
            .join(StoredVersion, StoredVersion.id == StoredChunk.version_id)
            .where(StoredChunk.tenant == tenant, StoredVersion.state != VersionState.RETIRED)
            .distinct()
        )
        if excluding is not None:
            query = query.where(StoredChunk.document_id != excluding)
        found: dict[str, set[str]] = {}
        with self._read() as session:
            for batch in batches(ids_hashes):
                for ids_hash, document_id in session.execute(query.where(StoredChunk.ids_hash.in_(batch))):
                    found.setdefault(ids_hash, set()).add(document_id)
        return found


_SELECT: Select[StoredChunk, str, str] = select(StoredChunk, StoredDocument.name, StoredDocument.title).join(
    StoredDocument, StoredDocument.id == StoredChunk.document_id
)


def _has_one_of(kind: LabelKind, labels: Sequence[str]) -> ColumnElement[bool]:
    return exists().where(
        StoredLabel.document_id == StoredChunk.document_id, StoredLabel.kind == kind, StoredLabel.label.in_(labels)
    )


def _row(chunk: NewChunk, version: StoredVersion) -> dict[str, Any]:
    return {
        "id": f"chk_{version.id.removeprefix('ver_')}_{chunk.ordinal}",
        "version_id": version.id,
        "document_id": version.document_id,
        "tenant": version.tenant,
        "ordinal": chunk.ordinal,
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "page": chunk.page,
        "heading": chunk.heading,
        "token_ids": _pack(chunk.token_ids),
        "n_tokens": len(chunk.token_ids),
        "ids_hash": chunk.ids_hash,
    }


def _named(row: Row[StoredChunk, str, str]) -> ChunkRecord:
    chunk, name, title = row
    return _record(chunk, name, title)


def _record(chunk: StoredChunk, name: str, title: str) -> ChunkRecord:
    return ChunkRecord(
        id=chunk.id,
        version_id=chunk.version_id,
        document_id=chunk.document_id,
        tenant=chunk.tenant,
        document_name=name,
        document_title=title,
        ordinal=chunk.ordinal,
        text=chunk.text,
        start=chunk.start,
        end=chunk.end,
        page=chunk.page,
        heading=chunk.heading,
        token_ids=np.frombuffer(chunk.token_ids, dtype="<u4").tolist(),
        ids_hash=chunk.ids_hash,
    )


def _pack(token_ids: Sequence[int]) -> bytes:
    try:
        return np.array(token_ids, dtype="<u4").tobytes()
    except OverflowError as error:
        raise BadInput("A token id does not fit 32 bits.") from error
