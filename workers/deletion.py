"""Deleting a document: invisible at once, then everything of it removed."""

from datetime import datetime

from app.core.catalog import Catalog, Document, DocumentState
from workers.purge import Purge


def delete_document(tenant: str, document_id: str, *, catalog: Catalog, purge: Purge, now: datetime) -> bool:
    """Delete; after it returns nothing of the document is retrieved, cited, cached or on disk.

    False: a worker was at it a moment ago, so the rows stay for `finish_deletion`, which purges once more.
    Raises DocumentNotFound; Unavailable when a store does not answer (reconcile then finishes the deletion).
    """
    before = catalog.get_document(tenant, document_id)
    document = catalog.begin_delete(tenant, document_id)
    purge.document(document)
    if before.claim_until is not None and before.claim_until > now:
        return False
    catalog.finish_delete(document.id)
    return True


def finish_deletion(document: Document, *, catalog: Catalog, purge: Purge) -> None:
    """Finish a deletion that has begun."""
    purge.document(document)
    catalog.finish_delete(document.id)


def finish_deletion_of(document_id: str, *, catalog: Catalog, purge: Purge, now: datetime) -> None:
    """Finish a deletion that has begun, by id; nothing if there is none."""
    for document in catalog.documents_needing_work(now):
        if document.id == document_id and document.state is DocumentState.DELETING:
            finish_deletion(document, catalog=catalog, purge=purge)
