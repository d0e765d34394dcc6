"""Collections and tags of documents, and how far the index has been told of them."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from app.core.catalog.batches import batches
from app.core.catalog.database import Database
from app.core.catalog.errors import DocumentNotFound
from app.core.catalog.label import LabelKind, few_enough, labels_from
from app.core.catalog.library_models import StoredLabel
from app.core.catalog.library_records import LabelCount, PendingLabels
from app.core.catalog.models import StoredDocument
from app.core.catalog.states import DocumentState

Labels = dict[LabelKind, tuple[str, ...]]


class Labelling(Database):
    """The catalog is the truth about labels; `pending_labels` are those that the index may not know yet."""

    def set_labels(
        self, tenant: str, document_id: str, collections: Iterable[str] | None, tags: Iterable[str] | None
    ) -> None:
        """Make these the document's labels, in place of those it has; None leaves that kind as it is.

        Raises: DocumentNotFound, also for one that is being deleted; BadLabel; TooManyLabels.
        """
        wanted = {
            kind: few_enough(labels_from(values, kind), kind)
            for kind, values in ((LabelKind.COLLECTION, collections), (LabelKind.TAG, tags))
            if values is not None
        }
        with self._write() as session:
            stored = session.scalar(
                select(StoredDocument)
                .where(StoredDocument.id == document_id, StoredDocument.tenant == tenant)
                .where(StoredDocument.state != DocumentState.DELETING)
                .with_for_update()
            )
            if stored is None:
                raise DocumentNotFound(f"There is no document {document_id}.", "List the documents to see their ids.")
            if replace_labels(session, stored, wanted):
                stored.updated_at = self._clock()

    def labels_of(self, document_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """A document's collections and its tags, both sorted; none if it is gone."""
        with self._read() as session:
            found = labels_by_document(session, [document_id])[document_id]
            return found[LabelKind.COLLECTION], found[LabelKind.TAG]

    def label_counts(self, tenant: str, kind: LabelKind) -> list[LabelCount]:
        """Every label of this kind that a document has, in order, with the number of those documents."""
        query = (
            select(StoredLabel.label, func.count())
            .where(StoredLabel.tenant == tenant, StoredLabel.kind == kind)
            .group_by(StoredLabel.label)
        )
        with self._read() as session:
            counts = sorted(session.execute(query).all())
        return [LabelCount(label, documents) for label, documents in counts]

    def pending_labels(self, limit: int = 100, document_id: str | None = None) -> list[PendingLabels]:
        """Documents of every tenant, or this one, whose labels the index has not been told since they changed."""
        query = (
            select(StoredDocument)
            .where(
                StoredDocument.labels_indexed < StoredDocument.labels_changed,
                StoredDocument.state != DocumentState.DELETING,
            )
            .order_by(StoredDocument.id)
            .limit(limit)
        )
        if document_id is not None:
            query = query.where(StoredDocument.id == document_id)
        with self._read() as session:
            documents = session.scalars(query).all()
            labels = labels_by_document(session, [document.id for document in documents])
            return [
                PendingLabels(
                    tenant=document.tenant,
                    document_id=document.id,
                    collections=labels[document.id][LabelKind.COLLECTION],
                    tags=labels[document.id][LabelKind.TAG],
                    seen=document.labels_changed,
                )
                for document in documents
            ]

    def labels_indexed(self, document_id: str, seen: int) -> bool:
        """Note that the index has just been told of the labels as they were at change `seen`.

        False: they have changed since, or a later change was told meanwhile and may have been overwritten: they stay
        pending, or become so again.
        """
        with self._write() as session:
            stored = session.get(StoredDocument, document_id, with_for_update=True)
            if stored is None:
                return True
            latest = stored.labels_changed == seen
            stored.labels_indexed = seen if latest else min(stored.labels_indexed, stored.labels_changed - 1)
            return latest


def labels_by_document(session: Session, document_ids: Sequence[str]) -> dict[str, Labels]:
    """Both kinds of each of the documents, sorted."""
    found: dict[str, dict[LabelKind, list[str]]] = {each: {kind: [] for kind in LabelKind} for each in document_ids}
    query = select(StoredLabel.document_id, StoredLabel.kind, StoredLabel.label)
    for batch in batches(document_ids):
        for document_id, kind, label in session.execute(query.where(StoredLabel.document_id.in_(batch))):
            found[document_id][LabelKind(kind)].append(label)
    return {
        document_id: {kind: tuple(sorted(labels)) for kind, labels in kinds.items()}
        for document_id, kinds in found.items()
    }


def replace_labels(session: Session, stored: StoredDocument, wanted: Labels) -> bool:
    """Make these the labels of each kind that is named; whether that changes anything. The document is locked."""
    before = labels_by_document(session, [stored.id])[stored.id]
    changed = {kind: labels for kind, labels in wanted.items() if labels != before[kind]}
    for kind, labels in changed.items():
        session.execute(delete(StoredLabel).where(StoredLabel.document_id == stored.id, StoredLabel.kind == kind))
        _insert(session, stored.id, stored.tenant, stored.created_at, kind, labels)
    if changed:
        stored.labels_changed += 1
    return bool(changed)


def add_labels(session: Session, stored: StoredDocument, more: Labels) -> bool:
    """Give the document these labels besides those it has; whether that changes anything. Raises TooManyLabels."""
    before = labels_by_document(session, [stored.id])[stored.id]
    return replace_labels(
        session,
        stored,
        {kind: few_enough(tuple(sorted({*before[kind], *labels})), kind) for kind, labels in more.items()},
    )


def drop_labels(session: Session, document_id: str) -> None:
    session.execute(delete(StoredLabel).where(StoredLabel.document_id == document_id))


def _insert(
    session: Session, document_id: str, tenant: str, created_at: datetime, kind: LabelKind, labels: Sequence[str]
) -> None:
    rows = [
        {"document_id": document_id, "kind": kind, "label": label, "tenant": tenant, "created_at": created_at}
        for label in labels
    ]
    if rows:
        session.execute(insert(StoredLabel), rows)
