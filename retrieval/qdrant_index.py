"""The index in Qdrant: a local folder that one process owns, or a server."""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http import HTTPStatus
from pathlib import Path
from threading import RLock
from uuid import UUID, uuid5

from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import VectorStoreQuery
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse
from qdrant_client.models import (
    Distance,
    FieldCondition,
    Filter,
    FilterSelector,
    MatchAny,
    MatchValue,
    PayloadSchemaType,
    VectorParams,
)

from retrieval.errors import DimensionMismatch, IndexLocked, IndexUnavailable
from retrieval.index import IndexedChunk, ScoredChunk

_COLLECTION = "chunks"
_POINTS = UUID("6f3c7f3e-5d0c-4c39-9a55-0f1d6f6b8f0a")
_FILTERED_FIELDS = ("tenant", "document_id", "version_id")
_SERVER_TIMEOUT_SECONDS = 30


class QdrantIndex:
    """A `ChunkIndex`; open it with `open_local` or `connect`. Safe in several threads."""

    def __init__(self, client: QdrantClient, dimension: int, turn: AbstractContextManager[object]) -> None:
        """Raises: DimensionMismatch if the collection holds vectors of another length."""
        self._client = client
        self._dimension = dimension
        self._turn = turn
        with self._answering():
            _prepare(client, dimension)
            self._store = QdrantVectorStore(_COLLECTION, client=client)

    @classmethod
    def open_local(cls, folder: Path, dimension: int) -> "QdrantIndex":
        """Open or create an index in a folder. Raises: IndexLocked, DimensionMismatch."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            # Local Qdrant is not made for threads: they take turns, and SQLite need not insist on one of them.
            client = QdrantClient(path=str(folder), force_disable_check_same_thread=True)
        except RuntimeError as error:
            raise IndexLocked(
                f"Another process has opened the index in {folder}.", "Stop the other Preread, or set a Qdrant server."
            ) from error
        try:
            return cls(client, dimension, RLock())
        except BaseException:
            client.close()
            raise

    @classmethod
    def connect(cls, url: str, dimension: int) -> "QdrantIndex":
        """Use a Qdrant server. Raises: IndexUnavailable, DimensionMismatch."""
        index = cls(
            QdrantClient(url=url, timeout=_SERVER_TIMEOUT_SECONDS, check_compatibility=False), dimension, nullcontext()
        )
        with index._answering():
            for field in _FILTERED_FIELDS:
                index._client.create_payload_index(_COLLECTION, field, PayloadSchemaType.KEYWORD)
        return index

    def close(self) -> None:
        with self._turn:
            self._client.close()

    def upsert(self, chunks: Sequence[IndexedChunk]) -> None:
        for chunk in chunks:
            self._check(chunk.vector)
        with self._answering():
            self._store.add([_node(chunk) for chunk in chunks])

    def delete_document(self, tenant: str, document_id: str) -> None:
        self._delete(_only(tenant, document_id=[document_id]))

    def delete_version(self, tenant: str, document_id: str, version_id: str) -> None:
        self._delete(_only(tenant, document_id=[document_id], version_id=[version_id]))

    def search(
        self, tenant: str, vector: Sequence[float], top_k: int, document_ids: Sequence[str] | None = None
    ) -> list[ScoredChunk]:
        self._check(vector)
        scope = _only(tenant) if document_ids is None else _only(tenant, document_id=list(document_ids))
        query = VectorStoreQuery(query_embedding=list(vector), similarity_top_k=top_k)
        with self._answering():
            result = self._store.query(query, qdrant_filters=scope)
        return [
            ScoredChunk(node.metadata["chunk_id"], node.metadata["document_id"], score)
            for node, score in zip(result.nodes or [], result.similarities or [], strict=True)
            if math.isfinite(score)
        ]

    def count(self, tenant: str, document_id: str | None = None) -> int:
        scope = _only(tenant) if document_id is None else _only(tenant, document_id=[document_id])
        with self._answering():
            return self._client.count(_COLLECTION, count_filter=scope, exact=True).count

    def _delete(self, scope: Filter) -> None:
        with self._answering():
            self._client.delete(_COLLECTION, FilterSelector(filter=scope))

    def _check(self, vector: Sequence[float]) -> None:
        if len(vector) != self._dimension:
            raise DimensionMismatch(found=len(vector), expected=self._dimension)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        with self._turn:
            try:
                yield
            except ApiException as error:
                raise IndexUnavailable(
                    f"The index does not answer: {error}", "Check that Qdrant runs at PREREAD_QDRANT_URL."
                ) from error


def _prepare(client: QdrantClient, dimension: int) -> None:
    """Make the collection unless it is there. Raises: DimensionMismatch."""
    if not client.collection_exists(_COLLECTION):
        try:
            client.create_collection(_COLLECTION, VectorParams(size=dimension, distance=Distance.COSINE))
        except UnexpectedResponse as error:
            if error.status_code != HTTPStatus.CONFLICT:  # another process has made it meanwhile
                raise
    vectors = client.get_collection(_COLLECTION).config.params.vectors
    if isinstance(vectors, VectorParams) and vectors.size != dimension:
        raise DimensionMismatch(found=dimension, expected=vectors.size)


def _only(tenant: str, **fields: list[str]) -> Filter:
    return Filter(
        must=[
            FieldCondition(key="tenant", match=MatchValue(value=tenant)),
            *(FieldCondition(key=key, match=MatchAny(any=values)) for key, values in fields.items()),
        ]
    )


def _node(chunk: IndexedChunk) -> TextNode:
    return TextNode(
        id_=str(uuid5(_POINTS, chunk.chunk_id)),  # the same chunk is the same point, however often it is added
        text=chunk.text,
        embedding=chunk.vector,
        metadata={
            "tenant": chunk.tenant,
            "document_id": chunk.document_id,
            "version_id": chunk.version_id,
            "chunk_id": chunk.chunk_id,
            "ordinal": chunk.ordinal,
        },
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.document_id)},
    )
