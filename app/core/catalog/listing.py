"""Pages of documents, newest first, quick however many there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.core.catalog.errors import BadCursor
from app.core.catalog.label import LabelKind, labels_from
from app.core.catalog.library_models import StoredLabel
from app.core.catalog.models import StoredDocument
from app.core.catalog.states import DocumentState
from app.core.catalog.text import folded

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class DocumentFilter:
    """Which documents to list; `query` is part of the name or title, in any case. All that is set must hold."""

    query: str = ""
    state: DocumentState | None = None
    collection: str | None = None
    tag: str | None = None

    @property
    def labels(self) -> list[tuple[LabelKind, str]]:
        """Raises BadLabel."""
        named = ((LabelKind.COLLECTION, self.collection), (LabelKind.TAG, self.tag))
        return [(kind, labels_from([label], kind)[0]) for kind, label in named if label is not None]


EVERYTHING = DocumentFilter()


@dataclass(frozen=True)
class Page:
    """`total` counts all pages' documents; `following` leads to the next page, None: there is none."""

    stored: Sequence[StoredDocument]
    total: int
    following: str | None


def page_of_documents(
    session: Session, tenant: str, limit: int, offset: int, chosen: DocumentFilter, after: str | None = None
) -> Page:
    """`offset` counts from the start, or from behind `after`, the `following` of an earlier page.

    The ids of a page are found in an index alone, and only its own documents are looked at.
    Raises: BadCursor, BadLabel.
    """
    listed = _Listed(session, tenant, chosen)
    found = session.execute(listed.ids(after).limit(limit + 1).offset(offset)).all()
    if after is None and len(found) <= limit and (found or not offset):
        total = offset + len(found)  # the end was reached: no need to look through all of them once more
    else:
        total = session.scalar(listed.counted()) or 0
    by_id = {
        stored.id: stored
        for stored in session.scalars(select(StoredDocument).where(StoredDocument.id.in_([row[1] for row in found])))
    }
    page = found[:limit]
    following = _cursor(*page[-1]) if len(found) > limit else None
    return Page([by_id[document_id] for _, document_id in page if document_id in by_id], total, following)


class _Listed:
    """The rows in whose index the list is read: the rarest label's, or the documents' own."""

    def __init__(self, session: Session, tenant: str, chosen: DocumentFilter) -> None:
        counts = {label: session.scalar(_counted_label(tenant, *label)) or 0 for label in chosen.labels}
        labels = sorted(counts, key=lambda label: counts[label])
        self._created_at: InstrumentedAttribute[datetime]
        self._id: InstrumentedAttribute[str]
        if labels:
            self._created_at, self._id = StoredLabel.created_at, StoredLabel.document_id
            self._where = _of_label(tenant, *labels[0])
        else:
            self._created_at, self._id = StoredDocument.created_at, StoredDocument.id
            self._where = [StoredDocument.tenant == tenant]
        self._where += [_has_label(self._id, *label) for label in labels[1:]]
        own = _own_conditions(chosen)
        if own and labels:
            self._where.append(exists().where(StoredDocument.id == self._id, *own))
        else:
            self._where += own

    def counted(self) -> Select[int]:
        return select(func.count(self._id)).where(*self._where)

    def ids(self, after: str | None) -> Select[datetime, str]:
        """Times of creation and ids, newest first."""
        query = select(self._created_at, self._id).where(*self._where)
        if after is not None:
            at, document_id = _place(after)
            behind = or_(self._created_at < at, and_(self._created_at == at, self._id < document_id))
            query = query.where(self._created_at <= at, behind)
        return query.order_by(self._created_at.desc(), self._id.desc())


def _own_conditions(chosen: DocumentFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if chosen.state is not None:
        conditions.append(StoredDocument.state == chosen.state)
    if chosen.query:
        conditions.append(StoredDocument.sought.contains(folded(chosen.query), autoescape=True))
    return conditions


def _of_label(tenant: str, kind: LabelKind, label: str) -> list[ColumnElement[bool]]:
    return [StoredLabel.tenant == tenant, StoredLabel.kind == kind, StoredLabel.label == label]


def _counted_label(tenant: str, kind: LabelKind, label: str) -> Select[int]:
    return select(func.count(StoredLabel.document_id)).where(*_of_label(tenant, kind, label))


def _has_label(document_id: InstrumentedAttribute[str], kind: LabelKind, label: str) -> ColumnElement[bool]:
    # By the primary key; the table stands under another name beside the one that the list is read in.
    other = StoredLabel.__table__.alias("other_label")
    return exists().where(other.c.document_id == document_id, other.c.kind == kind, other.c.label == label)


def _cursor(created_at: datetime, document_id: str) -> str:
    return f"{(created_at - _EPOCH) // timedelta(microseconds=1):x}.{document_id}"


def _place(cursor: str) -> tuple[datetime, str]:
    at, _, document_id = cursor.partition(".")
    try:
        return _EPOCH + timedelta(microseconds=int(at, 16)), document_id
    except (ValueError, OverflowError) as error:
        raise BadCursor(
            "That is no place in this list.", "Give what an earlier page named as `following`, or nothing."
        ) from error
