"""What `qdrant_index` asks of Qdrant, wherever it runs."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from qdrant_client.http.models import QueryResponse
from qdrant_client.models import (
    CollectionInfo,
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
    VectorParams,
)


class QdrantApi(Protocol):
    """A part of `qdrant_client.QdrantClient`, which is the client of a server; `EdgeClient` is the engine in here.

    What is written, is written when the call returns.
    """

    def collection_exists(self, collection_name: str) -> bool: ...

    def create_collection(
        self,
        collection_name: str,
        vectors_config: Mapping[str, VectorParams],
        sparse_vectors_config: Mapping[str, SparseVectorParams],
    ) -> bool: ...

    def get_collections(self) -> CollectionsResponse: ...

    def get_collection(self, collection_name: str) -> CollectionInfo: ...

    def delete_collection(self, collection_name: str) -> bool: ...

    def create_payload_index(
        self, collection_name: str, field_name: str, field_schema: PayloadSchemaType
    ) -> UpdateResult: ...

    def upsert(self, collection_name: str, points: Sequence[PointStruct]) -> UpdateResult: ...

    def set_payload(self, collection_name: str, payload: dict[str, Any], points: Filter) -> UpdateResult: ...

    def delete(self, collection_name: str, points_selector: FilterSelector) -> UpdateResult: ...

    def query_batch_points(self, collection_name: str, requests: Sequence[QueryRequest]) -> list[QueryResponse]: ...

    def count(self, collection_name: str, count_filter: Filter | None = None) -> CountResult: ...

    def retrieve(self, collection_name: str, ids: Sequence[str], *, with_payload: bool) -> list[Record]: ...

    def scroll(
        self, collection_name: str, *, limit: int, offset: int | str | None, with_payload: list[str]
    ) -> tuple[list[Record], Any]: ...

    def close(self) -> None: ...
