"""Leases on documents: one worker at a time, and nothing written by a worker whose time has passed."""

from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.core.catalog.database import Database
from app.core.catalog.documents import document_records, end_claim, live_versions
from app.core.catalog.errors import ClaimLost, DocumentGone, InvalidTransition
from app.core.catalog.models import StoredDocument
from app.core.catalog.records import Document
from app.core.catalog.states import DocumentState, VersionState
from app.core.catalog.text import made_storable

_INGESTING = (DocumentState.PARSED, DocumentState.CHUNKED)
_SERVING = (DocumentState.INDEXED, DocumentState.PREREAD)
_SETTLED = (DocumentState.PREREAD, DocumentState.FAILED)


class Claims(Database):
    """Methods that take an `owner` raise WorkRefused, having written nothing, once the owner's claim has ended.

    A claim ends when another owner takes it after its lease ran out, and when the document's work starts anew:
    new bytes, a retry, a deletion.
    """

    def documents_needing_work(self, now: datetime) -> list[Document]:
        """Documents of every tenant that nobody holds and that are neither pre-read nor failed, oldest first.

        Those being deleted are among them.
        """
        query = (
            select(StoredDocument)
            .where(
                StoredDocument.state.not_in(_SETTLED),
                or_(StoredDocument.claim_until.is_(None), StoredDocument.claim_until <= now),
            )
            .order_by(StoredDocument.updated_at, StoredDocument.id)
        )
        with self._read() as session:
            return document_records(session, session.scalars(query).all())

    def claim(self, document_id: str, owner: str, seconds: float) -> Document | None:
        """Lease the document, whatever its state; None if another holds it or it is gone.

        `owner` names one run of one task; the same owner may claim again.
        """
        now = self._clock()
        with self._write() as session:
            stored = _locked(session, document_id)
            if stored is None:
                return None
            free = stored.claim_until is None or stored.claim_until <= now
            if not free and stored.claim_owner != owner:
                return None
            stored.claim_owner = owner
            stored.claim_until = now + timedelta(seconds=seconds)
            return document_records(session, [stored])[0]

    def renew(self, document_id: str, owner: str, seconds: float) -> None:
        """Hold the document for `seconds` from now. Raises WorkRefused."""
        until = self._clock() + timedelta(seconds=seconds)
        with self._write() as session:
            _owned_document(session, document_id, owner).claim_until = until

    def release(self, document_id: str, owner: str) -> None:
        """Give the claim up; nothing happens if it has ended."""
        with self._write() as session:
            stored = _locked(session, document_id)
            if stored and stored.claim_owner == owner:
                end_claim(stored)

    def advance(self, document_id: str, owner: str, state: DocumentState) -> Document:
        """Note that a step is finished: parsed, chunked, indexed or preread.

        Raises: WorkRefused; InvalidTransition if the document has failed, if there is no pending version to have been
        parsed, or if it would serve without a published version or with a pending one.
        """
        with self._write() as session:
            stored = held_document(session, document_id, owner)
            _check_step(session, stored, state)
            stored.state = state
            stored.updated_at = self._clock()
            return document_records(session, [stored])[0]

    def fail(self, document_id: str, owner: str, code: str, message: str) -> Document:
        """Give up on the document until it is retried, and release it; a published version goes on answering.

        Raises: WorkRefused.
        """
        with self._write() as session:
            stored = held_document(session, document_id, owner)
            stored.state = DocumentState.FAILED
            stored.failure_code = code
            stored.failure_message = made_storable(message)
            stored.updated_at = self._clock()
            end_claim(stored)
            return document_records(session, [stored])[0]


def held_document(session: Session, document_id: str, owner: str) -> StoredDocument:
    """The document, locked until the transaction ends.

    Raises: DocumentGone if it is being deleted or gone; ClaimLost if `owner` does not hold it.
    """
    stored = _owned_document(session, document_id, owner)
    if stored.state == DocumentState.DELETING:
        raise DocumentGone(f"Document {document_id} is being deleted.")
    return stored


def _owned_document(session: Session, document_id: str, owner: str) -> StoredDocument:
    stored = _locked(session, document_id)
    if stored is None:
        raise DocumentGone(f"Document {document_id} has been deleted.")
    if stored.claim_owner != owner:
        if stored.state == DocumentState.DELETING:
            raise DocumentGone(f"Document {document_id} is being deleted.")
        raise ClaimLost(f"{owner} no longer holds document {document_id}.")
    return stored


def _locked(session: Session, document_id: str) -> StoredDocument | None:
    return session.get(StoredDocument, document_id, with_for_update=True, populate_existing=True)


def _check_step(session: Session, stored: StoredDocument, state: DocumentState) -> None:
    if stored.state == DocumentState.FAILED:
        raise InvalidTransition(f"Document {stored.id} has failed.", "Retry it first.")
    versions = live_versions(session, [stored.id])
    pending = any(version.state == VersionState.PENDING for version in versions)
    current = any(version.state == VersionState.CURRENT for version in versions)
    if state in _INGESTING:
        allowed = pending
    else:
        allowed = state in _SERVING and current and not pending
    if not allowed:
        raise InvalidTransition(
            f"Document {stored.id} cannot go from {stored.state} to {state} "
            f"with {'a' if current else 'no'} published and {'a' if pending else 'no'} pending version."
        )
