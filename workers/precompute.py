"""Asking for documents to be pre-read: at night, by an operator, or after a miss."""

from collections.abc import Iterable

from app.core.catalog import Catalog
from workers.purge import Purge
from workers.wake import Waker


def precompute(
    tenant: str, document_ids: Iterable[str] | None, *, again: bool, catalog: Catalog, purge: Purge, waker: Waker
) -> int:
    """Have what is missing of these documents (None: all) pre-read; returns how many documents were woken.

    `again` forgets their chunk KV first, so that all of it is made anew.
    """
    wanted = list(document_ids) if document_ids is not None else [d.id for d in catalog.published_documents(tenant)]
    if again:
        for document_id in wanted:
            _forget(tenant, document_id, catalog, purge)
    woken = catalog.request_preread(tenant, wanted)
    for document_id in woken:
        waker.wake_preread(document_id)
    return len(woken)


def _forget(tenant: str, document_id: str, catalog: Catalog, purge: Purge) -> None:
    version = catalog.get_document(tenant, document_id).current_version_id
    if version is None:
        return
    hashes = {chunk.ids_hash for chunk in catalog.chunks_of(version)}
    keys = [reading.key for reading in catalog.readings(tenant, hashes)]
    catalog.drop_readings(tenant, keys)
    purge.keys(tenant, keys)
