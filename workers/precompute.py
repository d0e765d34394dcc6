"""Asking for documents to be pre-read: after a miss, or by an operator."""

from collections.abc import Iterable

from app.core.catalog import Catalog, Run, RunKind
from workers.broker import READING
from workers.purge import Purge
from workers.value import by_value
from workers.wake import Waker


def read_missed(tenant: str, document_ids: Iterable[str], *, catalog: Catalog, waker: Waker) -> int:
    """Have what a question has just missed of these documents pre-read before all else; how many were woken."""
    woken = catalog.request_preread(tenant, document_ids)
    catalog.make_due(woken)
    for document_id in woken:
        waker.wake_missed(document_id)
    return len(woken)


def start_by_hand(
    tenant: str, document_id: str | None, *, again: bool, catalog: Catalog, waker: Waker, lanes: int
) -> Run:
    """Open a run over one document, or over all (None), most asked for first; it begins at once.

    `again`: chunk KV of each document is forgotten before it is its turn. `lanes`: how many workers are woken for it.
    """
    wanted = by_value(catalog.asked_documents(tenant)) if document_id is None else [document_id]
    catalog.make_due(wanted)
    run = catalog.start_run(tenant, RunKind.MANUAL, wanted, None, again=again)
    assert run is not None, "a run by hand takes the place of any other"
    for _ in range(max(1, min(lanes, len(wanted)))):
        waker.wake_run(READING)
    return run


def forget(tenant: str, document_id: str, *, catalog: Catalog, purge: Purge) -> None:
    """Remove a document's chunk KV from everywhere. Raises: DocumentNotFound, NotPurged."""
    version = catalog.get_document(tenant, document_id).current_version_id
    if version is None:
        return
    hashes = {chunk.ids_hash for chunk in catalog.chunks_of(version)}
    keys = [reading.key for reading in catalog.readings(tenant, hashes)]
    catalog.drop_readings(tenant, keys)
    purge.keys(tenant, keys)
