"""Documents: added, listed, renamed, retried, deleted."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import Session

from app.core.catalog.database import Database, lock_name
from app.core.catalog.errors import DocumentGone, DocumentNotFound, InvalidTransition
from app.core.catalog.label import LabelKind, labels_from
from app.core.catalog.labels import add_labels, drop_labels, labels_by_document
from app.core.catalog.listing import EVERYTHING, DocumentFilter, page_of_documents
from app.core.catalog.models import StoredDocument, StoredVersion
from app.core.catalog.records import Document, DocumentPage
from app.core.catalog.states import DocumentState, VersionState
from app.core.catalog.text import storable
from app.core.ids import new_id


class Documents(Database):
    def tenants(self) -> list[str]:
        """All that have documents, by name."""
        with self._read() as session:
            return list(session.scalars(select(StoredDocument.tenant).distinct().order_by(StoredDocument.tenant)))

    def add_document(
        self,
        tenant: str,
        name: str,
        sha256: str,
        media_type: str,
        size_bytes: int,
        *,
        collections: Iterable[str] = (),
        tags: Iterable[str] = (),
    ) -> tuple[Document, bool]:
        """Note that these bytes came in under this name; the document gets these labels besides those it has.

        Bytes the tenant has already, under whatever name: that document and False; if they are the document's current
        ones and others are pending, the pending ones are given up. A known name with new bytes: the same document with
        a pending version, and True; the version published before answers until the new one is. Else a new document.
        Bytes that a document had once and that are not cleaned up yet bring their retired version back.

        Raises: UnstorableText, BadLabel, TooManyLabels.
        """
        storable(name, "name")
        labels = {
            LabelKind.COLLECTION: labels_from(collections, LabelKind.COLLECTION),
            LabelKind.TAG: labels_from(tags, LabelKind.TAG),
        }
        now = self._clock()
        with self._write() as session:
            lock_name(session.connection(), f"add {tenant}")
            stored, created = take_bytes(session, tenant, name, sha256, media_type, size_bytes, now)
            add_labels(session, stored, labels)
            return document_records(session, [stored])[0], created

    def get_document(self, tenant: str, document_id: str) -> Document:
        """Raises DocumentNotFound."""
        with self._read() as session:
            stored = session.scalar(
                select(StoredDocument).where(StoredDocument.tenant == tenant, StoredDocument.id == document_id)
            )
            if stored is None:
                raise _not_found(document_id)
            return document_records(session, [stored])[0]

    def list_documents(
        self,
        tenant: str,
        limit: int = 50,
        offset: int = 0,
        chosen: DocumentFilter = EVERYTHING,
        after: str | None = None,
    ) -> DocumentPage:
        """Newest first; `offset` counts from behind `after`, if given, which an earlier page named as `following`.

        Raises: BadCursor, BadLabel.
        """
        with self._read() as session:
            page = page_of_documents(session, tenant, limit, offset, chosen, after)
            return DocumentPage(tuple(document_records(session, page.stored)), page.total, page.following)

    def published_documents(self, tenant: str) -> list[Document]:
        """All that answer questions, oldest first."""
        current = select(StoredVersion.document_id).where(StoredVersion.state == VersionState.CURRENT)
        query = (
            select(StoredDocument)
            .where(StoredDocument.tenant == tenant, StoredDocument.id.in_(current))
            .order_by(StoredDocument.created_at, StoredDocument.id)
        )
        with self._read() as session:
            return document_records(session, session.scalars(query).all())

    def request_preread(self, tenant: str, document_ids: Iterable[str] | None = None) -> list[str]:
        """Put pre-read documents (None: all) back to indexed, so that their missing readings are made.

        Returns: the ids, among those asked for, of the documents now waiting to be pre-read.
        """
        wanted = None if document_ids is None else list(document_ids)
        chosen = [StoredDocument.tenant == tenant]
        if wanted is not None:
            chosen.append(StoredDocument.id.in_(wanted))
        with self._write() as session:
            session.execute(
                update(StoredDocument)
                .where(*chosen, StoredDocument.state == DocumentState.PREREAD)
                .values(state=DocumentState.INDEXED, updated_at=self._clock())
            )
            waiting = select(StoredDocument.id).where(*chosen, StoredDocument.state == DocumentState.INDEXED)
            return list(session.scalars(waiting.order_by(StoredDocument.created_at, StoredDocument.id)))

    def retry(self, document_id: str) -> Document:
        """Start a failed document's work anew; any other is left as it is. Raises DocumentNotFound, DocumentGone."""
        with self._write() as session:
            stored = _locked_document(session, StoredDocument.id == document_id)
            if stored.state == DocumentState.DELETING:
                raise DocumentGone(f"Document {document_id} is being deleted.")
            if stored.state == DocumentState.FAILED:
                _start_anew(stored, self._clock())
            return document_records(session, [stored])[0]

    def begin_delete(self, tenant: str, document_id: str) -> Document:
        """Hide the document from retrieval, end every claim on it and free its name and bytes; repeatable.

        What remains for the caller: vectors, orphaned KV, the file, then `finish_delete`. Raises DocumentNotFound.
        """
        with self._write() as session:
            lock_name(session.connection(), f"add {tenant}")
            stored = _locked_document(session, (StoredDocument.id == document_id) & (StoredDocument.tenant == tenant))
            hide_document(session, stored, self._clock())
            return document_records(session, [stored])[0]

    def finish_delete(self, document_id: str) -> None:
        """Remove its rows; nothing if they are gone. Raises InvalidTransition unless it is being deleted."""
        with self._write() as session:
            stored = session.get(StoredDocument, document_id, with_for_update=True)
            if stored is None:
                return
            if stored.state != DocumentState.DELETING:
                raise InvalidTransition(f"Document {document_id} is {stored.state}, not being deleted.")
            session.execute(delete(StoredDocument).where(StoredDocument.id == document_id))


def take_bytes(
    session: Session, tenant: str, name: str, sha256: str, media_type: str, size_bytes: int, now: datetime
) -> tuple[StoredDocument, bool]:
    """What `add_document` does, but for labels, in a transaction that holds the name `add TENANT`."""
    known = locked_known_bytes(session, tenant, sha256)
    if known:
        stored, version = known
        restored = version.state == VersionState.CURRENT and stored.name == name
        if restored and _retire_pending(session, stored.id):
            _start_anew(stored, now)
        return stored, False
    stored = locked_named(session, tenant, name) or _new_document(tenant, name, now)
    session.add(stored)
    session.flush()
    _retire_pending(session, stored.id)
    _start_anew(stored, now)
    version = _retired(session, stored.id, sha256) or StoredVersion(
        id=new_id("ver"), document_id=stored.id, tenant=tenant, sha256=sha256
    )
    version.media_type = media_type
    version.size_bytes = size_bytes
    version.state = VersionState.PENDING
    version.created_at = now
    session.add(version)
    return stored, True


def hide_document(session: Session, stored: StoredDocument, now: datetime) -> None:
    """Begin its deletion, if that has not begun, in a transaction that holds the name `add TENANT`."""
    if stored.state != DocumentState.DELETING:
        _start_anew(stored, now)
        stored.state = DocumentState.DELETING
        drop_labels(session, stored.id)
        session.execute(
            update(StoredVersion).where(StoredVersion.document_id == stored.id).values(state=VersionState.RETIRED)
        )


def live_versions(session: Session, document_ids: Sequence[str]) -> Sequence[StoredVersion]:
    """Current and pending versions of these documents."""
    return session.scalars(
        select(StoredVersion).where(
            StoredVersion.document_id.in_(document_ids), StoredVersion.state != VersionState.RETIRED
        )
    ).all()


def document_records(session: Session, stored: Sequence[StoredDocument]) -> list[Document]:
    """The records of these rows, in their order."""
    session.flush()
    ids = {
        (version.document_id, version.state): version.id
        for version in live_versions(session, [document.id for document in stored])
    }
    labels = labels_by_document(session, [document.id for document in stored])
    return [
        Document(
            id=document.id,
            tenant=document.tenant,
            name=document.name,
            title=document.title,
            state=DocumentState(document.state),
            failure_code=document.failure_code,
            failure_message=document.failure_message,
            created_at=document.created_at,
            updated_at=document.updated_at,
            current_version_id=ids.get((document.id, VersionState.CURRENT)),
            pending_version_id=ids.get((document.id, VersionState.PENDING)),
            claim_owner=document.claim_owner,
            claim_until=document.claim_until,
            generation=document.generation,
            collections=labels[document.id][LabelKind.COLLECTION],
            tags=labels[document.id][LabelKind.TAG],
        )
        for document in stored
    ]


def end_claim(stored: StoredDocument) -> None:
    stored.claim_owner = None
    stored.claim_until = None


def _new_document(tenant: str, name: str, now: datetime) -> StoredDocument:
    return StoredDocument(
        id=new_id("doc"),
        tenant=tenant,
        name=name,
        title=name,
        state=DocumentState.RECEIVED,
        created_at=now,
        updated_at=now,
        generation=0,
    )


def _start_anew(stored: StoredDocument, now: datetime) -> None:
    stored.state = DocumentState.RECEIVED
    stored.failure_code = None
    stored.failure_message = None
    end_claim(stored)
    stored.generation += 1
    stored.updated_at = now


def _retire_pending(session: Session, document_id: str) -> bool:
    retired = session.scalars(
        update(StoredVersion)
        .where(StoredVersion.document_id == document_id, StoredVersion.state == VersionState.PENDING)
        .values(state=VersionState.RETIRED)
        .returning(StoredVersion.id)
    )
    return bool(retired.all())


def locked_known_bytes(session: Session, tenant: str, sha256: str) -> tuple[StoredDocument, StoredVersion] | None:
    version = session.scalar(
        select(StoredVersion).where(
            StoredVersion.tenant == tenant, StoredVersion.sha256 == sha256, StoredVersion.state != VersionState.RETIRED
        )
    )
    if version is None:
        return None
    stored = _locked_document(session, StoredDocument.id == version.document_id)
    session.refresh(version)  # publishing another version may have retired it before the lock was had
    return None if version.state == VersionState.RETIRED else (stored, version)


def _retired(session: Session, document_id: str, sha256: str) -> StoredVersion | None:
    return session.scalar(
        select(StoredVersion).where(
            StoredVersion.document_id == document_id,
            StoredVersion.sha256 == sha256,
            StoredVersion.state == VersionState.RETIRED,
        )
    )


def locked_named(session: Session, tenant: str, name: str) -> StoredDocument | None:
    return session.scalar(
        select(StoredDocument)
        .where(
            StoredDocument.tenant == tenant, StoredDocument.name == name, StoredDocument.state != DocumentState.DELETING
        )
        .with_for_update()
    )


def _locked_document(session: Session, chosen: ColumnElement[bool]) -> StoredDocument:
    stored = session.scalar(select(StoredDocument).where(chosen).with_for_update())
    if stored is None:
        raise DocumentNotFound("There is no such document.", "List the documents to see their ids.")
    return stored


def _not_found(document_id: str) -> DocumentNotFound:
    return DocumentNotFound(f"There is no document {document_id}.", "List the documents to see their ids.")
