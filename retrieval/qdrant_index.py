"""The index in Qdrant: a local folder that one process owns, or a server."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import RLock
from uuid import UUID, uuid5

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ApiException
from qdrant_client.models import (
    FieldCondition,
    Filter,
    FilterSelector,
    MatchAny,
    MatchValue,
    PayloadSchemaType,
    PointStruct,
    SparseVector,
)

from retrieval import sparse
from retrieval.branches import Branches
from retrieval.errors import DimensionMismatch, IndexLocked, IndexUnavailable
from retrieval.index import IndexedChunk, ScoredChunk, SearchMode
from retrieval.index_layout import DENSE, SPARSE, Collection, create, current, older
from retrieval.nearness import Question

_POINTS = UUID("6f3c7f3e-5d0c-4c39-9a55-0f1d6f6b8f0a")
_FILTERED_FIELDS = ("tenant", "document_id", "version_id")
_SERVER_TIMEOUT_SECONDS = 30


class QdrantIndex:
    """A `ChunkIndex`; open it with `open_local` or `connect`. Safe in several threads.

    New chunks go into the collection of today's layout and embedding model. What still lies in an older one is found
    as far as it can be, deleted, and counted too, until `forget_older` (workers/reindex.py moves it).
    """

    def __init__(
        self, client: QdrantClient, dimension: int, model: str, turn: AbstractContextManager[object]
    ) -> None:
        self._client = client
        self._dimension = dimension
        self._current = current(dimension, model)
        self._turn = turn
        with self._answering():
            create(client, self._current, dimension)

    @classmethod
    def open_local(cls, folder: Path, dimension: int, model: str) -> "QdrantIndex":
        """Open or create an index in a folder, for vectors of this embedding model. Raises: IndexLocked."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            # Local Qdrant is not made for threads: they take turns, and SQLite need not insist on one of them.
            client = QdrantClient(path=str(folder), force_disable_check_same_thread=True)
        except RuntimeError as error:
            raise IndexLocked(
                f"Another process has opened the index in {folder}.", "Stop the other Preread, or set a Qdrant server."
            ) from error
        try:
            return cls(client, dimension, model, RLock())
        except BaseException:
            client.close()
            raise

    @classmethod
    def connect(cls, url: str, dimension: int, model: str) -> "QdrantIndex":
        """Use a Qdrant server. Raises: IndexUnavailable."""
        client = QdrantClient(url=url, timeout=_SERVER_TIMEOUT_SECONDS, check_compatibility=False)
        index = cls(client, dimension, model, nullcontext())
        with index._answering():
            for field in _FILTERED_FIELDS:
                client.create_payload_index(index._current.name, field, PayloadSchemaType.KEYWORD)
        return index

    def close(self) -> None:
        with self._turn:
            self._client.close()

    def upsert(self, chunks: Sequence[IndexedChunk]) -> None:
        for chunk in chunks:
            self._check(chunk.vector)
        if chunks:
            with self._answering():
                self._client.upsert(self._current.name, [_point(chunk) for chunk in chunks])

    def delete_document(self, tenant: str, document_id: str) -> None:
        self._delete(_only(tenant, document_id=[document_id]))

    def delete_version(self, tenant: str, document_id: str, version_id: str) -> None:
        self._delete(_only(tenant, document_id=[document_id], version_id=[version_id]))

    def search(
        self,
        tenant: str,
        question: Question,
        top_k: int,
        document_ids: Sequence[str] | None = None,
        mode: SearchMode = SearchMode.HYBRID,
    ) -> list[ScoredChunk]:
        self._check(question.vector)
        scope = _only(tenant) if document_ids is None else _only(tenant, document_id=list(document_ids))
        branches = Branches(question, top_k, mode)
        with self._answering():
            for collection in self._collections():
                branches.ask(self._client, collection, scope)
        return branches.fused()

    def count(self, tenant: str, document_id: str | None = None) -> int:
        scope = _only(tenant) if document_id is None else _only(tenant, document_id=[document_id])
        with self._answering():
            return sum(self._count(collection, scope) for collection in self._collections())

    def missing(self, chunk_ids: Sequence[str]) -> set[str]:
        """Those of the chunks that today's collection lacks."""
        named = {_point_id(chunk_id): chunk_id for chunk_id in chunk_ids}
        with self._answering():
            there = self._client.retrieve(self._current.name, list(named), with_payload=False)
        return {chunk_id for point_id, chunk_id in named.items() if point_id not in {str(point.id) for point in there}}

    def count_older(self, tenant: str) -> int:
        """The tenant's chunks in older collections."""
        with self._answering():
            return sum(self._count(collection, _only(tenant)) for collection in self._older())

    def forget_older(self, tenant: str, document_id: str | None = None) -> None:
        """Remove the tenant's chunks, or those of a document, from older collections; empty ones go."""
        scope = _only(tenant) if document_id is None else _only(tenant, document_id=[document_id])
        with self._answering():
            for collection in self._older():
                self._client.delete(collection.name, FilterSelector(filter=scope))
                if not self._count(collection, None):
                    self._client.delete_collection(collection.name)

    def _older(self) -> list[Collection]:
        """Asked for each time: another process may have begun with a new collection, or finished with an old one."""
        return older(self._client, self._current, self._dimension)

    def _collections(self) -> list[Collection]:
        return [self._current, *self._older()]

    def _count(self, collection: Collection, scope: Filter | None) -> int:
        return self._client.count(collection.name, count_filter=scope, exact=True).count

    def _delete(self, scope: Filter) -> None:
        with self._answering():
            for collection in self._collections():
                self._client.delete(collection.name, FilterSelector(filter=scope))

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


def _only(tenant: str, **fields: list[str]) -> Filter:
    return Filter(
        must=[
            FieldCondition(key="tenant", match=MatchValue(value=tenant)),
            *(FieldCondition(key=key, match=MatchAny(any=values)) for key, values in fields.items()),
        ]
    )


def _point_id(chunk_id: str) -> str:
    """The same chunk is the same point, however often it is added."""
    return str(uuid5(_POINTS, chunk_id))


def _point(chunk: IndexedChunk) -> PointStruct:
    indices, values = sparse.chunk_vector(chunk.text)
    return PointStruct(
        id=_point_id(chunk.chunk_id),
        vector={DENSE: chunk.vector, SPARSE: SparseVector(indices=indices, values=values)},
        payload={
            "tenant": chunk.tenant,
            "document_id": chunk.document_id,
            "version_id": chunk.version_id,
            "chunk_id": chunk.chunk_id,
            "ordinal": chunk.ordinal,
        },
    )
