"""Telling the index of labels that have changed."""

import logging

from app.core.catalog import Catalog, PendingLabels
from app.core.errors import SetupError, Unavailable
from retrieval.index import ChunkIndex
from workers.indexing import settle_labels

log = logging.getLogger(__name__)

_BATCH = 500


def tell_index(catalog: Catalog, index: ChunkIndex, document_id: str | None = None) -> bool:
    """Tell the index of the labels that are pending, of one document or of the next 500.

    False: the index does not answer, and they stay pending.
    """
    for pending in catalog.pending_labels(_BATCH, document_id):
        try:
            _tell(pending, catalog, index)
        except (Unavailable, SetupError) as error:
            log.warning("the index is told of labels later: %s", error)
            return False
    return True


def _tell(pending: PendingLabels, catalog: Catalog, index: ChunkIndex) -> None:
    settle_labels(pending.tenant, pending.document_id, None, catalog, index)
    catalog.labels_indexed(pending.document_id, pending.seen)
