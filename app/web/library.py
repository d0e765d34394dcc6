"""Documents as the API handles them. Blocking: routes call it in a thread."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import BinaryIO

from app.core.catalog import DocumentFilter, DocumentNotFound, DocumentRow, DocumentState, LabelKind
from app.web.access.audit import Action, Audit
from app.web.schemas.documents import DocumentAdded, DocumentOut, DocumentPage, FailureOut
from app.web.schemas.labels import LabelOut, LabelsIn
from app.web.services import Services
from workers.adding import Adding
from workers.deletion import delete_document
from workers.labelling import tell_index


class Library:
    def __init__(self, services: Services, tenant: str, audit: Audit) -> None:
        self._services = services
        self._catalog = services.catalog
        self._tenant = tenant
        self._audit = audit

    def add(
        self,
        name: str,
        source: BinaryIO,
        collections: Sequence[str] = (),
        tags: Sequence[str] = (),
        media_type: str | None = None,
    ) -> DocumentAdded:
        """Store a file and have it ingested. The same bytes again: the document that has them, woken if it failed.

        The document gets these labels besides those it has. Raises: what `Adding.add` raises.
        """
        services, settings = self._services, self._services.settings
        adding = Adding(self._catalog, services.files, services.waker, self._tenant, settings.max_upload_bytes)
        document, created = adding.add(name, source, collections, tags, media_type)
        tell_index(self._catalog, services.index, document.id)
        self._audit.note(Action.DOCUMENT_ADD, f"{document.id} {name}{'' if created else ' (known)'}")
        return DocumentAdded(document=self.get(document.id), created=created)

    def page(self, limit: int, offset: int, chosen: DocumentFilter, after: str | None) -> DocumentPage:
        """Raises BadCursor, BadLabel."""
        table = self._catalog.document_table(
            self._tenant, limit, offset, chosen, after, counted=self._services.counted_readings
        )
        items = [document_out(row) for row in table.rows]
        return DocumentPage(items=items, total=table.total, following=table.following)

    def label(self, document_id: str, labels: LabelsIn) -> DocumentOut:
        """The index knows of it when this returns, or as soon as it answers. Raises DocumentNotFound, TooManyLabels."""
        self._catalog.set_labels(self._tenant, document_id, labels.collections, labels.tags)
        tell_index(self._catalog, self._services.index, document_id)
        self._audit.note(Action.DOCUMENT_LABEL, document_id)
        return self.get(document_id)

    def labels(self, kind: LabelKind) -> list[LabelOut]:
        counts = self._catalog.label_counts(self._tenant, kind)
        return [LabelOut(label=each.label, documents=each.documents) for each in counts]

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
        self._audit.note(Action.DOCUMENT_DELETE, document_id)
        if not finished:
            self._services.waker.wake_delete(document_id)

    def retry(self, document_id: str) -> DocumentOut:
        """Start a failed document's work anew. Raises DocumentNotFound."""
        self.get(document_id)
        self._catalog.retry(document_id)
        self._services.waker.wake_ingest(document_id)
        self._audit.note(Action.DOCUMENT_RETRY, document_id)
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
        collections=list(document.collections),
        tags=list(document.tags),
    )
