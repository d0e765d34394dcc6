"""The scope of a question, from what was asked."""

from app.core.catalog import LabelKind, labels_from
from app.web.schemas.ask import Scope as AskedScope
from retrieval.index import Scope


def scope_of(asked: AskedScope) -> Scope:
    """Raises BadLabel."""
    return Scope(
        document_ids=None if asked.document_ids is None else tuple(asked.document_ids),
        collections=_labels(asked.collections, LabelKind.COLLECTION),
        tags=_labels(asked.tags, LabelKind.TAG),
    )


def _labels(asked: list[str] | None, kind: LabelKind) -> tuple[str, ...] | None:
    return None if asked is None else labels_from(asked, kind)
