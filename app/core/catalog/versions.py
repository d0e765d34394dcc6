"""Versions of documents: parsed, published, retired, dropped."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.core.catalog.claims import held_document
from app.core.catalog.database import Database
from app.core.catalog.errors import InvalidTransition, VersionRetired
from app.core.catalog.models import StoredDocument, StoredVersion
from app.core.catalog.records import Version
from app.core.catalog.states import VersionState
from app.core.catalog.text import storable


class Versions(Database):
    def get_version(self, version_id: str) -> Version | None:
        with self._read() as session:
            stored = session.get(StoredVersion, version_id)
            return _version(stored) if stored else None

    def save_parsed(self, version_id: str, *, owner: str, title: str, media_type: str, pages: int | None) -> None:
        """Note what parsing found. Until a version is published, the document bears its first version's title.

        Raises: WorkRefused; UnstorableText.
        """
        storable(title, "title")
        with self._write() as session:
            document, version = held_pending_version(session, version_id, owner)
            version.title = title
            version.media_type = media_type
            version.pages = pages
            if _current(session, document.id) is None:
                document.title = title

    def publish_version(self, document_id: str, version_id: str, *, owner: str) -> str | None:
        """Let the pending version answer questions in place of the current one; all or nothing, and repeatable.

        Returns: the id of the version it replaced, now retired; None if there was none.
        Raises: WorkRefused.
        """
        with self._write() as session:
            held_document(session, document_id, owner)
            old = _current(session, document_id)
            if old and old.id == version_id:
                return None
            document, version = held_pending_version(session, version_id, owner)
            if document.id != document_id:
                raise VersionRetired(f"Version {version_id} is not of document {document_id}.")
            if old:
                old.state = VersionState.RETIRED
                session.flush()  # the index allows one current version at any moment
            version.state = VersionState.CURRENT
            document.title = version.title or document.title
            return old.id if old else None

    def retired_versions(self, document_id: str) -> list[Version]:
        """Versions, replaced or never published, whose vectors, KV and file are still to be removed."""
        query = (
            select(StoredVersion)
            .where(StoredVersion.document_id == document_id, StoredVersion.state == VersionState.RETIRED)
            .order_by(StoredVersion.created_at, StoredVersion.id)
        )
        with self._read() as session:
            return [_version(stored) for stored in session.scalars(query)]

    def drop_version(self, version_id: str) -> None:
        """Remove a retired version's rows; nothing if they are gone. Raises InvalidTransition if it is in use."""
        with self._write() as session:
            stored = session.get(StoredVersion, version_id)
            if stored is None:
                return
            if stored.state != VersionState.RETIRED:
                raise InvalidTransition(f"Version {version_id} is {stored.state} and cannot be dropped.")
            session.execute(delete(StoredVersion).where(StoredVersion.id == version_id))


def held_pending_version(session: Session, version_id: str, owner: str) -> tuple[StoredDocument, StoredVersion]:
    """The version and its document, locked until the transaction ends.

    Raises: WorkRefused unless `owner` holds the document and the version is still the pending one.
    """
    document_id = session.scalar(select(StoredVersion.document_id).where(StoredVersion.id == version_id))
    if document_id is None:
        raise VersionRetired(f"Version {version_id} is gone.")
    document = held_document(session, document_id, owner)
    version = session.get(StoredVersion, version_id, populate_existing=True)
    if version is None or version.state != VersionState.PENDING:
        raise VersionRetired(f"Version {version_id} is no longer waiting to be ingested.")
    return document, version


def _current(session: Session, document_id: str) -> StoredVersion | None:
    return session.scalar(
        select(StoredVersion).where(
            StoredVersion.document_id == document_id, StoredVersion.state == VersionState.CURRENT
        )
    )


def _version(stored: StoredVersion) -> Version:
    return Version(
        id=stored.id,
        document_id=stored.document_id,
        tenant=stored.tenant,
        sha256=stored.sha256,
        media_type=stored.media_type,
        size_bytes=stored.size_bytes,
        title=stored.title,
        pages=stored.pages,
        state=VersionState(stored.state),
        created_at=stored.created_at,
    )
