"""Indexes of earlier installs: Qdrant's local mode kept them, in files of its own."""

import logging
import shutil
from pathlib import Path

from qdrant_client import QdrantClient
from qdrant_client.models import PointStruct

from retrieval.edge_client import EdgeClient
from retrieval.errors import IndexLocked

log = logging.getLogger(__name__)

_MARK = "meta.json"
_COLLECTIONS = "collection"
_POINTS_AT_ONCE = 200


def move_local_collections(folder: Path, client: EdgeClient) -> None:
    """Move the collections that local mode has left in `folder` to the client, as they are; then their files go.

    Nothing if there are none. Killed in the middle, it begins anew. Raises: IndexLocked.
    """
    if not (folder / _MARK).exists():
        return
    try:
        local = QdrantClient(path=str(folder))
    except RuntimeError as error:
        raise IndexLocked(f"An earlier Preread has opened the index in {folder}.", "Stop it.") from error
    try:
        for description in local.get_collections().collections:
            _move(local, description.name, client)
    finally:
        local.close()
    shutil.rmtree(folder / _COLLECTIONS, ignore_errors=True)
    (folder / _MARK).unlink()


def _move(local: QdrantClient, name: str, client: EdgeClient) -> None:
    params = local.get_collection(name).config.params
    if not client.collection_exists(name):
        client.create_collection(name, params.vectors or {}, params.sparse_vectors)
    count, offset = 0, None
    while True:
        records, offset = local.scroll(name, limit=_POINTS_AT_ONCE, offset=offset, with_payload=True, with_vectors=True)
        points = [PointStruct(id=each.id, vector=each.vector or {}, payload=each.payload) for each in records]
        if points:
            client.upsert(name, points)
        count += len(points)
        if offset is None:
            break
    log.info("the index: moved %d chunks of %s from Qdrant's local mode", count, name)
