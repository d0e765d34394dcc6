"""The signatures of the catalog; the implementation follows file by file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from app.core.catalog.records import (
    ChunkCounts,
    ChunkRecord,
    Document,
    DocumentPage,
    DocumentRow,
    DocumentTable,
    LookupTotals,
    NewChunk,
    ReadingRecord,
    Version,
    WantedReading,
)
from app.core.catalog.states import DocumentState


class Catalog(Protocol):
    """One database; short transactions; safe to share between threads (but build it after a fork, not before)."""

    def __init__(self, database_url: str, clock: Callable[[], datetime] = ...) -> None: ...
    def migrate(self) -> None: ...
    def is_current(self) -> bool: ...
    def close(self) -> None: ...

    # documents
    def add_document(
        self, tenant: str, name: str, sha256: str, media_type: str, size_bytes: int
    ) -> tuple[Document, bool]:
        """Same bytes in the tenant: that document, False. Same name, new bytes: a new pending version, True."""

    def get_document(self, tenant: str, document_id: str) -> Document:
        """Raises DocumentNotFound."""

    def list_documents(self, tenant: str, limit: int = 50, offset: int = 0, query: str = "") -> DocumentPage: ...
    def published_documents(self, tenant: str) -> list[Document]:
        """All that answer questions (the nightly job's list)."""

    def request_preread(self, tenant: str, document_ids: Iterable[str] | None = None) -> list[str]:
        """preread -> indexed for these (None: all) so that reconcile finds them even if the broker is dead; returns ids."""

    def retry(self, document_id: str) -> Document:
        """failed -> received (or indexed where only pre-reading failed); others unchanged."""

    def begin_delete(self, tenant: str, document_id: str) -> Document:
        """Deleting: invisible to retrieval at once, running claims end. Repeatable. Raises DocumentNotFound."""

    def finish_delete(self, document_id: str) -> None:
        """Rows gone; nothing if they were already; InvalidTransition unless deleting."""

    # work
    def documents_needing_work(self, now: datetime) -> list[Document]: ...
    def claim(self, document_id: str, owner: str, seconds: float) -> Document | None:
        """None: held by another, or gone. `owner` must be unique per task run. Any state (look at it)."""

    def renew(self, document_id: str, owner: str, seconds: float) -> None:
        """Raises WorkRefused (ClaimLost, DocumentGone) like every method that takes an owner."""

    def release(self, document_id: str, owner: str) -> None:
        """Gives the claim up; nothing if it was lost already."""

    def advance(self, document_id: str, owner: str, state: DocumentState) -> Document: ...
    def fail(self, document_id: str, owner: str, code: str, message: str) -> Document: ...

    # versions: `pending_version_id` of the document is what there is to ingest; None: only clean up and advance
    def get_version(self, version_id: str) -> Version | None: ...
    def save_parsed(
        self, version_id: str, *, owner: str, title: str, media_type: str, pages: int | None
    ) -> None: ...
    def publish_version(self, document_id: str, version_id: str, *, owner: str) -> str | None:
        """pending -> current, the old one -> retired; returns the old one's id. Repeatable."""

    def retired_versions(self, document_id: str) -> list[Version]:
        """Versions whose vectors and KV are still to be removed (replaced, or never published)."""

    def drop_version(self, version_id: str) -> None:
        """A retired version's rows gone."""

    # chunks
    def save_chunks(self, version_id: str, chunks: Sequence[NewChunk], *, owner: str) -> list[ChunkRecord]: ...
    def chunks_of(self, version_id: str) -> list[ChunkRecord]: ...
    def chunks_by_id(self, tenant: str, ids: Sequence[str]) -> list[ChunkRecord]:
        """In the order asked; only current versions of documents that are not being deleted."""

    # readings
    def want_readings(self, document_id: str, owner: str, wanted: Sequence[WantedReading]) -> None:
        """Before pre-reading; keeps ready ones ready. Raises WorkRefused."""

    def want_preamble(self, wanted: WantedReading) -> None: ...
    def reading_ready(self, tenant: str, key: str, n_tokens: int, size_bytes: int) -> bool:
        """False: no longer wanted (deleted meanwhile): the caller removes the blob it stored."""

    def reading_failed(self, tenant: str, key: str, error: str) -> bool: ...
    def readings(self, tenant: str, ids_hashes: Iterable[str]) -> list[ReadingRecord]: ...
    def orphaned_keys(
        self, tenant: str, ids_hashes: Iterable[str], excluding: str | None = None
    ) -> list[ReadingRecord]:
        """Readings that no chunk of a live document (pending or current version) shares; `excluding`: a document id."""

    def drop_readings(self, tenant: str, keys: Iterable[str]) -> int: ...
    def kv_bytes(self, tenant: str) -> int: ...

    # counters
    def record_lookups(
        self,
        tenant: str,
        hits: Mapping[str, tuple[int, int]],
        misses: Mapping[str, tuple[int, int]],
        per_document: Mapping[str, tuple[int, int]],
        now: datetime,
    ) -> None: ...
    def lookup_totals(self, tenant: str, since: datetime | None = None) -> LookupTotals: ...

    # overviews; chunks_ready and kv_bytes count opening readings of this model behind this preamble (None: any)
    def document_table(
        self,
        tenant: str,
        limit: int = 50,
        offset: int = 0,
        query: str = "",
        *,
        model_fingerprint: str | None = None,
        preamble_hash: str | None = None,
    ) -> DocumentTable: ...
    def document_row(
        self,
        tenant: str,
        document_id: str,
        *,
        model_fingerprint: str | None = None,
        preamble_hash: str | None = None,
    ) -> DocumentRow: ...
    def state_counts(self, tenant: str) -> dict[DocumentState, int]: ...
    def chunk_counts(
        self, tenant: str, *, model_fingerprint: str | None = None, preamble_hash: str | None = None
    ) -> ChunkCounts: ...
