"""Files that syncs have taken from folders, and the documents that stand for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import PurePath

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.catalog.database import Database, lock_name
from app.core.catalog.documents import (
    document_records,
    hide_document,
    live_versions,
    locked_known_bytes,
    locked_named,
    take_bytes,
)
from app.core.catalog.label import LabelKind
from app.core.catalog.labels import add_labels
from app.core.catalog.library_models import StoredSyncedFile
from app.core.catalog.library_records import SyncedFile
from app.core.catalog.models import StoredDocument, StoredVersion
from app.core.catalog.records import Document
from app.core.catalog.states import DocumentState, VersionState
from app.core.catalog.text import storable


class Taken(StrEnum):
    """ADDED: a new document. CHANGED: a new version of one. KNOWN: its bytes were there. LATER: they are about to be
    replaced where they are, so nothing was done.
    """

    ADDED = "added"
    CHANGED = "changed"
    KNOWN = "known"
    LATER = "later"


@dataclass(frozen=True)
class Released:
    """What became of the document of a file that is gone: `removed` as it was before its deletion began."""

    removed: Document | None = None
    renamed: bool = False


class SyncedFiles(Database):
    """Each method is one transaction, so that whatever ends a sync, the next one goes on from the truth.

    A document stands for every file with its bytes, and bears the name of one of them. It is a sync's own if a sync
    made it: only then is it renamed or removed with its files.
    """

    def synced_files(self, tenant: str, source: str) -> dict[str, SyncedFile]:
        """By path. A path that begins with a slash is that of no file: its document's file has other bytes now."""
        query = (
            select(StoredSyncedFile, StoredDocument.state)
            .join(StoredDocument, StoredDocument.id == StoredSyncedFile.document_id)
            .where(StoredSyncedFile.tenant == tenant, StoredSyncedFile.source == source)
        )
        with self._read() as session:
            return {
                row.path: SyncedFile(
                    row.path, row.size, row.mtime_ns, row.sha256, row.document_id, row.owned,
                    state != DocumentState.DELETING,
                )
                for row, state in session.execute(query)
            }  # fmt: skip

    def take_file(
        self, tenant: str, source: str, path: str, sha256: str, media_type: str, size: int, mtime_ns: int
    ) -> tuple[Document | None, Taken]:
        """Note that a file has these bytes: as a document named SOURCE/PATH in the collection SOURCE.

        Bytes that are there already stay the document that they are. Raises: UnstorableText, TooManyLabels.
        """
        name = storable(f"{source}/{path}", "name")
        now = self._clock()
        with self._write() as session:
            lock_name(session.connection(), f"add {tenant}")
            row = session.get(StoredSyncedFile, (tenant, source, path))
            known = locked_known_bytes(session, tenant, sha256)
            if known and _is_being_replaced(session, *known) and not _may_restore(session, known[0], name, sha256):
                return None, Taken.LATER
            named = None if known else locked_named(session, tenant, name)
            if named is not None and _make_way(session, named, source, path, now):
                named = None
            stored, _ = take_bytes(session, tenant, name, sha256, media_type, size, now)
            add_labels(session, stored, {LabelKind.COLLECTION: (source,)})
            rows = _rows_of(session, stored.id)
            owned = any(each.owned for each in rows) if known or named else True
            if row is not None and row.document_id != stored.id:
                _keep_the_former(session, row)
            _note(session, tenant, source, path, sha256, size, mtime_ns, stored.id, owned=owned)
            taken = Taken.KNOWN if known else Taken.CHANGED if named else Taken.ADDED
            return document_records(session, [stored])[0], taken

    def release_file(self, tenant: str, source: str, path: str) -> Released:
        """A file is gone: so is its document, if it is a sync's own and no other file has its bytes.

        If another has, the document takes that one's name. Its deletion has begun then; the caller finishes it.
        """
        now = self._clock()
        with self._write() as session:
            lock_name(session.connection(), f"add {tenant}")
            row = session.get(StoredSyncedFile, (tenant, source, path))
            if row is None:
                return Released()
            stored = session.get(StoredDocument, row.document_id, with_for_update=True)
            session.delete(row)
            session.flush()
            if stored is None or stored.state == DocumentState.DELETING or not row.owned:
                return Released()
            rest = _rows_of(session, stored.id)
            if rest:
                return Released(renamed=_name_after(session, stored, rest, now))
            before = document_records(session, [stored])[0]
            hide_document(session, stored, now)
            return Released(removed=before)


def _rows_of(session: Session, document_id: str) -> Sequence[StoredSyncedFile]:
    return session.scalars(
        select(StoredSyncedFile)
        .where(StoredSyncedFile.document_id == document_id)
        .order_by(StoredSyncedFile.source, StoredSyncedFile.path)
    ).all()


def _is_being_replaced(session: Session, stored: StoredDocument, version: StoredVersion) -> bool:
    return version.state == VersionState.CURRENT and any(
        each.state == VersionState.PENDING for each in live_versions(session, [stored.id])
    )


def _may_restore(session: Session, stored: StoredDocument, name: str, sha256: str) -> bool:
    """Whether the pending bytes may be given up for the current ones: no other file has them."""
    return stored.name == name and all(
        row.sha256 == sha256 or _name_of(row) == name for row in _rows_of(session, stored.id)
    )


def _make_way(session: Session, stored: StoredDocument, source: str, path: str, now: datetime) -> bool:
    """Free the name of a file with new bytes where the document that bears it stands for other files with the old."""
    rows = _rows_of(session, stored.id)
    others = [row for row in rows if (row.source, row.path) != (source, path)]
    return any(row.owned for row in rows) and bool(_files(others)) and _name_after(session, stored, others, now)


def _keep_the_former(session: Session, row: StoredSyncedFile) -> None:
    """What the file stood for until now is remembered: its bytes may be found in another file yet."""
    if row.owned and not _files([each for each in _rows_of(session, row.document_id) if each is not row]):
        _note(session, row.tenant, row.source, f"/{row.document_id}", row.sha256, 0, 0, row.document_id, owned=True)


def _note(
    session: Session, tenant: str, source: str, path: str, sha256: str, size: int, mtime_ns: int, document_id: str,
    *, owned: bool,
) -> None:  # fmt: skip
    row = session.get(StoredSyncedFile, (tenant, source, path)) or StoredSyncedFile(
        tenant=tenant, source=source, path=path
    )
    row.sha256, row.size, row.mtime_ns, row.document_id, row.owned = sha256, size, mtime_ns, document_id, owned
    session.add(row)
    session.flush()


def _name_after(session: Session, stored: StoredDocument, rows: Sequence[StoredSyncedFile], now: datetime) -> bool:
    """Give the document the name of the first of these files unless it has the name of one; whether that succeeded.

    A document that bears the name and is named after none of its own files takes the name of one in turn.
    """
    names = [_name_of(row) for row in _files(rows)]
    if not names or stored.name in names:
        return False
    holder = locked_named(session, stored.tenant, names[0])
    theirs = _rows_of(session, holder.id) if holder is not None else []
    if holder is not None:
        if not any(row.owned for row in theirs) or holder.name in map(_name_of, theirs):
            return False
        _rename(holder, f"{holder.name} ({holder.id})", now)
        session.flush()
    _rename(stored, names[0], now)
    session.flush()
    if holder is not None:
        _name_after(session, holder, theirs, now)
    return True


def _rename(stored: StoredDocument, name: str, now: datetime) -> None:
    if stored.title in (stored.name, PurePath(stored.name).stem):
        stored.title = PurePath(name).stem or name
    stored.name = name
    stored.updated_at = now


def _files(rows: Sequence[StoredSyncedFile]) -> list[StoredSyncedFile]:
    return [row for row in rows if not row.path.startswith("/")]


def _name_of(row: StoredSyncedFile) -> str:
    return f"{row.source}/{row.path}"
