"""The index in Qdrant: a local folder that one process owns, or a server."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http import HTTPStatus
from pathlib import Path
from threading import RLock

from qdrant_client.http.exceptions import UnexpectedResponse
from qdrant_client.models import Filter, FilterSelector, Record, UpdateResult, UpdateStatus

from retrieval.branches import Branches
from retrieval.edge_client import EdgeClient
from retrieval.edge_migration import move_local_collections
from retrieval.errors import DimensionMismatch, IndexUnavailable
from retrieval.index import EVERYWHERE, Holdings, IndexedChunk, Scope, ScoredChunk, SearchMode
from retrieval.index_layout import Collection, create, current, make_filterable, older, taken_dimension
from retrieval.nearness import Question
from retrieval.qdrant_api import QdrantApi
from retrieval.qdrant_points import HELD_FIELDS, held_versions, labels, of_tenant, point, point_id, within
from retrieval.qdrant_server import FAILURES, TIMEOUT_SECONDS, address_of, failure, open_client

_POINTS_A_REQUEST = 100
_SHARDS = "shards"


class QdrantIndex:
    """An `OwnedIndex`; open it with `open_local` or `connect`. Safe in several threads.

    New chunks go into the collection of today's layout and embedding model. What still lies in an older one is found
    as far as it can be, deleted, labelled and counted too, until `forget_older` (workers/reindex.py moves it).
    """

    def __init__(
        self, client: QdrantApi, place: str, dimension: int, model: str, turn: AbstractContextManager[object]
    ) -> None:
        """`place` is the folder or address, for messages."""
        self._client = client
        self._place = place
        self._dimension = dimension
        self._current = current(dimension, model)
        self._turn = turn
        with self._answering():
            create(client, self._current)
            self._taken = taken_dimension(client, self._current)
            for collection in self._collections():
                make_filterable(client, collection)

    @classmethod
    def open_local(cls, folder: Path, dimension: int, model: str) -> "QdrantIndex":
        """Open or create an index in a folder, for vectors of this embedding model. Raises: IndexLocked."""
        client = EdgeClient(folder / _SHARDS)
        try:
            move_local_collections(folder, client)
            return cls(client, str(folder), dimension, model, RLock())
        except BaseException:
            client.close()
            raise

    @classmethod
    def connect(
        cls, url: str, dimension: int, model: str, api_key: str = "", timeout_seconds: float = TIMEOUT_SECONDS
    ) -> "QdrantIndex":
        """Use a Qdrant server. Raises: IndexUnavailable, IndexRefused."""
        client = open_client(url, api_key, timeout_seconds)
        try:
            return cls(client, address_of(url), dimension, model, nullcontext())
        except BaseException:
            client.close()
            raise

    def close(self) -> None:
        with self._turn:
            self._client.close()

    def check(self, dimension: int) -> None:
        with self._answering():
            self._taken = taken_dimension(self._client, self._current)
        if dimension != self._taken:
            raise DimensionMismatch(found=dimension, expected=self._taken)

    def upsert(self, chunks: Sequence[IndexedChunk]) -> None:
        for chunk in chunks:
            self._fits(chunk.vector)
        for first in range(0, len(chunks), _POINTS_A_REQUEST):
            points = [point(chunk) for chunk in chunks[first : first + _POINTS_A_REQUEST]]
            with self._answering():
                self._done(self._client.upsert(self._current.name, points))

    def delete_document(self, tenant: str, document_id: str) -> None:
        self._delete(of_tenant(tenant, document_id))

    def delete_version(self, tenant: str, document_id: str, version_id: str) -> None:
        self._delete(of_tenant(tenant, document_id, version_id))

    def label(self, tenant: str, document_id: str, collections: Sequence[str], tags: Sequence[str]) -> None:
        payload, chosen = labels(collections, tags), of_tenant(tenant, document_id)
        with self._answering():
            for collection in self._collections():
                with self._unless_gone(collection):
                    self._done(self._client.set_payload(collection.name, payload, chosen))

    def search(
        self,
        tenant: str,
        question: Question,
        top_k: int,
        scope: Scope = EVERYWHERE,
        mode: SearchMode = SearchMode.HYBRID,
    ) -> list[ScoredChunk]:
        self._fits(question.vector)
        branches = Branches(question, top_k, mode)
        if scope.empty:
            return []
        with self._answering():
            # The older first: what is moved meanwhile is in today's before it leaves them.
            for collection in reversed(self._collections()):
                with self._unless_gone(collection):
                    branches.ask(self._client, collection, within(tenant, scope))
        return branches.fused()

    def count(self, tenant: str, document_id: str | None = None) -> int:
        with self._answering():
            return self._sum(self._collections(), of_tenant(tenant, document_id))

    def holdings(self, after: str | None = None, limit: int = 1000) -> Holdings:
        name, _, offset = (after or "").partition(" ")
        with self._answering():
            left = sorted((each for each in self._collections() if each.name >= name), key=lambda each: each.name)
            if not left:
                return Holdings((), None)
            collection, *rest = left
            start = offset if offset and collection.name == name else None
            points: list[Record] = []
            following = None
            with self._unless_gone(collection):
                points, following = self._client.scroll(
                    collection.name,
                    limit=limit,
                    offset=int(start) if start and start.isdecimal() else start,
                    with_payload=HELD_FIELDS,
                )
        versions = held_versions(each.payload for each in points)
        if following is not None:
            return Holdings(versions, f"{collection.name} {following}")
        return Holdings(versions, rest[0].name if rest else None)

    def missing(self, chunk_ids: Sequence[str]) -> set[str]:
        """Those of the chunks that today's collection lacks."""
        named = {point_id(chunk_id): chunk_id for chunk_id in chunk_ids}
        with self._answering():
            there = self._client.retrieve(self._current.name, list(named), with_payload=False)
        return {chunk_id for each, chunk_id in named.items() if each not in {str(found.id) for found in there}}

    def count_older(self, tenant: str) -> int:
        """The tenant's chunks in older collections."""
        with self._answering():
            return self._sum(self._older(), of_tenant(tenant))

    def older_dimensions(self) -> set[int]:
        with self._answering():
            return {collection.dimension for collection in self._older()} - {self._dimension}

    def forget_older(self, tenant: str, document_id: str | None = None) -> None:
        """Remove the tenant's chunks, or those of a document, from older collections; empty ones go."""
        with self._answering():
            for collection in self._older():
                with self._unless_gone(collection):
                    self._remove(collection, of_tenant(tenant, document_id))
                    if not self._client.count(collection.name).count:
                        self._client.delete_collection(collection.name)

    def _older(self) -> list[Collection]:
        """Asked for each time: another process may have begun with a new collection, or finished with an old one."""
        return older(self._client, self._current)

    def _collections(self) -> list[Collection]:
        return [self._current, *self._older()]

    def _sum(self, collections: Sequence[Collection], chosen: Filter) -> int:
        total = 0
        for collection in collections:
            with self._unless_gone(collection):
                total += self._client.count(collection.name, count_filter=chosen).count
        return total

    def _delete(self, chosen: Filter) -> None:
        with self._answering():
            for collection in self._collections():
                with self._unless_gone(collection):
                    self._remove(collection, chosen)

    def _remove(self, collection: Collection, chosen: Filter) -> None:
        self._done(self._client.delete(collection.name, FilterSelector(filter=chosen)))

    def _fits(self, vector: Sequence[float]) -> None:
        if len(vector) != self._taken:
            raise DimensionMismatch(found=len(vector), expected=self._taken)

    def _done(self, result: UpdateResult) -> None:
        """We wait for every change; a server that is too busy answers before it is made."""
        if result.status is not UpdateStatus.COMPLETED:
            raise IndexUnavailable(
                f"The index at {self._place} has not made a change yet: {result.status}.", "Try again in a moment."
            )

    @contextmanager
    def _unless_gone(self, collection: Collection) -> Iterator[None]:
        """Another process may have removed an older collection since it was listed: then nothing is in it."""
        try:
            yield
        except UnexpectedResponse as error:
            if collection == self._current or error.status_code != HTTPStatus.NOT_FOUND:
                raise

    @contextmanager
    def _answering(self) -> Iterator[None]:
        with self._turn:
            try:
                yield
            except FAILURES as error:
                raise failure(self._place, error) from error
