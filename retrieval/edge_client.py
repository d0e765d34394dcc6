"""Qdrant's own engine in this process: the index of a folder that one process owns."""

import fcntl
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import qdrant_edge as edge
from qdrant_client.http.models import QueryResponse
from qdrant_client.models import (
    CollectionConfig,
    CollectionDescription,
    CollectionInfo,
    CollectionParams,
    CollectionsResponse,
    CountResult,
    Filter,
    FilterSelector,
    PayloadSchemaType,
    PointStruct,
    QueryRequest,
    Record,
    SparseVectorParams,
    UpdateResult,
    UpdateStatus,
    VectorParams,
)

from retrieval.edge_collection import DamagedCollection, EdgeCollection, remove
from retrieval.edge_models import filter_of, point_of, query_of, record, scored_point
from retrieval.errors import IndexLocked, IndexUnavailable

log = logging.getLogger(__name__)

_DONE = UpdateResult(status=UpdateStatus.COMPLETED)
_LOCK = "owner.lock"


class EdgeClient:
    """A `QdrantApi` over Qdrant Edge; `QdrantClient`'s local mode searches 10,000 chunks a hundred times slower.

    It differs from a server in this:

    1. One process has the folder open, and threads take turns; who calls sees to that.
    2. It knows the filters that `qdrant_points` makes, and keyword indexes.
    3. Every search is exact: there is no approximate index.
    4. A collection that cannot be opened is removed. The index is made from the catalog, and web makes anew what it
       lacks (workers/reindex.py).
    """

    def __init__(self, folder: Path) -> None:
        """Open the folder, or make it. Raises: IndexLocked."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock: int | None = _locked(folder)
        self._collections: dict[str, EdgeCollection] = {}
        try:
            for each in sorted(path for path in folder.iterdir() if path.is_dir()):
                self._open(each)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for collection in self._collections.values():
            collection.close()
        self._collections.clear()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def collection_exists(self, collection_name: str) -> bool:
        return collection_name in self._collections

    def create_collection(
        self,
        collection_name: str,
        vectors_config: VectorParams | Mapping[str, VectorParams],
        sparse_vectors_config: Mapping[str, SparseVectorParams] | None = None,
    ) -> bool:
        params = CollectionParams(
            vectors=vectors_config if isinstance(vectors_config, VectorParams) else dict(vectors_config),
            sparse_vectors=dict(sparse_vectors_config or {}),
        )
        self._collections[collection_name] = EdgeCollection.create(self._folder / collection_name, params)
        return True

    def get_collections(self) -> CollectionsResponse:
        return CollectionsResponse(collections=[CollectionDescription(name=name) for name in self._collections])

    def get_collection(self, collection_name: str) -> CollectionInfo:
        """Only its parameters and which fields are indexed."""
        collection = self._named(collection_name)
        config: dict[str, Any] = {"params": collection.params}
        told: dict[str, Any] = {
            "config": CollectionConfig.model_construct(**config),
            "payload_schema": dict.fromkeys(collection.indexed_fields()),
        }
        return CollectionInfo.model_construct(**told)

    def delete_collection(self, collection_name: str) -> bool:
        self._named(collection_name).remove()
        del self._collections[collection_name]
        return True

    def create_payload_index(
        self, collection_name: str, field_name: str, field_schema: PayloadSchemaType = PayloadSchemaType.KEYWORD
    ) -> UpdateResult:
        if field_schema is not PayloadSchemaType.KEYWORD:
            raise NotImplementedError(field_schema)
        keyword = edge.UpdateOperation.create_field_index(field_name, edge.PayloadSchemaType.Keyword)
        self._named(collection_name).update(keyword)
        return _DONE

    def upsert(self, collection_name: str, points: Sequence[PointStruct]) -> UpdateResult:
        operation = edge.UpdateOperation.upsert_points([point_of(point) for point in points])
        self._named(collection_name).update(operation)
        return _DONE

    def set_payload(self, collection_name: str, payload: dict[str, Any], points: Filter) -> UpdateResult:
        operation = edge.UpdateOperation.set_payload_by_filter(filter_of(points), payload)
        self._named(collection_name).update(operation)
        return _DONE

    def delete(self, collection_name: str, points_selector: FilterSelector) -> UpdateResult:
        collection = self._named(collection_name)
        collection.update(edge.UpdateOperation.delete_points_by_filter(filter_of(points_selector.filter)))
        collection.clear_away()
        return _DONE

    def query_batch_points(self, collection_name: str, requests: Sequence[QueryRequest]) -> list[QueryResponse]:
        answers = self._named(collection_name).query([query_of(request) for request in requests])
        return [QueryResponse.model_construct(points=[scored_point(found) for found in answer]) for answer in answers]

    def count(self, collection_name: str, count_filter: Filter | None = None) -> CountResult:
        chosen = filter_of(count_filter) if count_filter else None
        return CountResult(count=self._named(collection_name).count(chosen))

    def retrieve(self, collection_name: str, ids: Sequence[str], *, with_payload: bool) -> list[Record]:
        return [record(found) for found in self._named(collection_name).retrieve(list(ids), with_payload)]

    def scroll(
        self,
        collection_name: str,
        *,
        limit: int,
        offset: int | str | None,
        with_payload: list[str],
    ) -> tuple[list[Record], str | None]:
        """In the order of the points' ids."""
        request = edge.ScrollRequest(offset=offset, limit=limit, with_payload=with_payload, with_vector=False)
        found, following = self._named(collection_name).scroll(request)
        return [record(each) for each in found], None if following is None else str(following)

    def _open(self, folder: Path) -> None:
        try:
            self._collections[folder.name] = EdgeCollection.open(folder)
        except DamagedCollection as error:
            log.warning("the index: %s cannot be opened and is made anew: %s", folder.name, error)
            remove(folder)

    def _named(self, name: str) -> EdgeCollection:
        collection = self._collections.get(name)
        if collection is None:
            raise IndexUnavailable(f"The index in {self._folder} has no collection {name}.", "Restart web.")
        return collection


def _locked(folder: Path) -> int:
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise IndexLocked(
            f"Another process has opened the index in {folder}.", "Stop the other Preread, or set a Qdrant server."
        ) from error
    return descriptor
