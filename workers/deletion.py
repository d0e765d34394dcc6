"""Deleting a document: invisible at once, then everything of it removed."""

import logging
from datetime import datetime

from app.core.catalog import Catalog, Document, DocumentState
from app.core.errors import SetupError, Unavailable
from workers.purge import Purge

log = logging.getLogger(__name__)


def delete_document(tenant: str, document_id: str, *, catalog: Catalog, purge: Purge, now: datetime) -> bool:
    """Delete; after it returns nothing of the document is retrieved, cited or used, whatever did not answer.

    False: the rows stay for `finish_deletion`, because a worker was at it a moment ago or the index does not answer.
    Chunk KV that could not be removed everywhere is left to its tombstones. Raises DocumentNotFound.
    """
    before = catalog.get_document(tenant, document_id)
    document = catalog.begin_delete(tenant, document_id)
    try:
        purge.document(document)
    except (Unavailable, SetupError) as error:
        log.warning("the deletion of %s waits: %s", document_id, error)
        return False
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
