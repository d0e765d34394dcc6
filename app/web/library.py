"""Documents as the API handles them. Blocking: routes call it in a thread."""

import mimetypes
from datetime import UTC, datetime
from typing import BinaryIO

from app.core.catalog import DocumentNotFound, DocumentRow, DocumentState
from app.core.errors import BadInput
from app.web.schemas.documents import DocumentAdded, DocumentOut, DocumentPage, FailureOut
from app.web.services import Services
from workers.deletion import delete_document

_LONGEST_NAME = 1000


class BadName(BadInput):
    code = "bad_name"


class Library:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._catalog = services.catalog
        self._tenant = services.settings.tenant

    def add(self, name: str, source: BinaryIO) -> DocumentAdded:
        """Store a file and have it ingested. The same bytes again: the document that has them, woken if it failed."""
        if not name.strip() or len(name) > _LONGEST_NAME:
            raise BadName(f"A document needs a name of at most {_LONGEST_NAME} characters.")
        files = self._services.files
        incoming = files.receive(source, self._services.settings.max_upload_bytes)
        try:
            media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
            document, created = self._catalog.add_document(
                self._tenant, name, incoming.sha256, media_type, incoming.size_bytes
            )
            if not files.has(self._tenant, document.id, incoming.sha256):
                files.keep(incoming, self._tenant, document.id)
        finally:
            files.discard(incoming)
        if document.state is DocumentState.FAILED:
            self._catalog.retry(document.id)
        self._services.waker.wake_ingest(document.id)
        return DocumentAdded(document=self.get(document.id), created=created)

    def page(self, limit: int, offset: int, query: str) -> DocumentPage:
        table = self._catalog.document_table(
            self._tenant, limit, offset, query, counted=self._services.counted_readings
        )
        return DocumentPage(items=[document_out(row) for row in table.rows], total=table.total)

    def get(self, document_id: str) -> DocumentOut:
        """Raises DocumentNotFound, also for one that is being deleted."""
        row = self._catalog.document_row(self._tenant, document_id, counted=self._services.counted_readings)
        if row.document.state is DocumentState.DELETING:
            raise DocumentNotFound(f"There is no document {document_id}.", "List the documents to see their ids.")
        return document_out(row)

    def text(self, document_id: str) -> str:
        """The text of the version that answers questions. Raises DocumentNotFound, FileMissing."""
        self.get(document_id)
        document = self._catalog.get_document(self._tenant, document_id)
        version_id = document.current_version_id or document.pending_version_id
        version = self._catalog.get_version(version_id) if version_id else None
        return self._services.files.text(self._tenant, document_id, version.sha256 if version else "none")

    def vectors(self, document_id: str) -> int:
        """How many the index holds of a document, also of one that is gone. Raises IndexUnavailable."""
        return self._services.index.count(self._tenant, document_id)

    def delete(self, document_id: str) -> None:
        """The document is gone at once; what does not answer now is emptied later. Raises DocumentNotFound."""
        finished = delete_document(
            self._tenant, document_id, catalog=self._catalog, purge=self._services.purge, now=datetime.now(UTC)
        )
        if not finished:
            self._services.waker.wake_delete(document_id)

    def retry(self, document_id: str) -> DocumentOut:
        """Start a failed document's work anew. Raises DocumentNotFound."""
        self.get(document_id)
        self._catalog.retry(document_id)
        self._services.waker.wake_ingest(document_id)
        return self.get(document_id)


def document_out(row: DocumentRow) -> DocumentOut:
    document = row.document
    failure = None
    if document.failure_code is not None:
        failure = FailureOut(code=document.failure_code, message=document.failure_message or "")
    return DocumentOut(
        id=document.id,
        name=document.name,
        title=document.title,
        state=document.state,
        failure=failure,
        media_type=row.media_type,
        size_bytes=row.size_bytes,
        pages=row.pages,
        chunks=row.chunks,
        chunks_ready=row.chunks_ready,
        tokens=row.tokens,
        created_at=document.created_at,
        updated_at=document.updated_at,
    )
