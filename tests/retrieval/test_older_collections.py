"""What lies in collections of another layout or embedding model, in a folder and on a server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from qdrant_client.models import Distance, Modifier, PointStruct, SparseVector, SparseVectorParams, VectorParams
from qdrant_server import QdrantServer

from retrieval import sparse
from retrieval.index import EVERYWHERE, IndexedChunk, Scope, SearchMode
from retrieval.nearness import Question
from retrieval.qdrant_index import QdrantIndex

X, Y = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]

Opener = Callable[[int, str], QdrantIndex]


def chunk(chunk_id: str, vector: list[float], document_id: str = "doc_1") -> IndexedChunk:
    return IndexedChunk(chunk_id, document_id, "ver_1", "acme", 0, f"The bridge {chunk_id}.", vector, ["staff"])


@pytest.fixture(params=["local", "server"])
def reopened(request: pytest.FixtureRequest, tmp_path: Path, qdrant_server: QdrantServer) -> Iterator[Opener]:
    """Opens the same place for vectors of another length or model, having closed it."""
    opened: list[QdrantIndex] = []

    def reopen(dimension: int, model: str) -> QdrantIndex:
        if opened:
            opened.pop().close()
        if request.param == "local":
            opened.append(QdrantIndex.open_local(tmp_path / "index", dimension, model))
        else:
            opened.append(QdrantIndex.connect(qdrant_server.url, dimension, model))
        return opened[-1]

    yield reopen
    for index in opened:
        index.close()


def ids(index: QdrantIndex, dimension: int, scope: Scope = EVERYWHERE) -> list[str]:
    return sorted(
        found.chunk_id for found in index.search("acme", Question("Which bridge?", [1.0] * dimension), 9, scope)
    )


@pytest.fixture
def moved_halfway(reopened: Opener) -> QdrantIndex:
    """Two documents of an earlier model, of which one has been indexed with today's too."""
    before = reopened(3, "a-model")
    before.upsert([chunk("a", X), chunk("b", Y, "doc_2")])
    index = reopened(4, "another-model")
    index.upsert([chunk("b", [1.0] * 4, "doc_2")])
    return index


def test_all_of_it_is_found_each_chunk_once(moved_halfway: QdrantIndex) -> None:
    assert ids(moved_halfway, 4) == ["a", "b"]
    assert moved_halfway.count_older("acme") == 2
    assert moved_halfway.older_dimensions() == {3}
    assert moved_halfway.missing(["a", "b"]) == {"a"}


def test_a_change_of_labels_holds_in_both(moved_halfway: QdrantIndex) -> None:
    moved_halfway.label("acme", "doc_1", ["press"], [])
    moved_halfway.label("acme", "doc_2", ["press"], ["new"])
    assert ids(moved_halfway, 4, Scope(collections=("staff",))) == []
    assert ids(moved_halfway, 4, Scope(collections=("press",))) == ["a", "b"]
    assert ids(moved_halfway, 4, Scope(tags=("new",))) == ["b"]


@pytest.mark.parametrize("limit", [1, 100])
def test_all_of_it_is_listed(moved_halfway: QdrantIndex, limit: int) -> None:
    listed, after = [], None
    while True:
        page = moved_halfway.holdings(after, limit)
        listed += [each.place for each in page.versions]
        if (after := page.after) is None:
            break
    assert sorted(listed) == [("acme", "doc_1", "ver_1"), ("acme", "doc_2", "ver_1"), ("acme", "doc_2", "ver_1")]


def test_a_list_goes_on_where_a_collection_has_gone(moved_halfway: QdrantIndex) -> None:
    pages = [moved_halfway.holdings(limit=1)]
    moved_halfway.forget_older("acme")
    while pages[-1].after is not None:
        pages.append(moved_halfway.holdings(pages[-1].after, 1))
    assert ("acme", "doc_2", "ver_1") in [each.place for page in pages for each in page.versions]


def test_a_deleted_document_is_gone_from_both(moved_halfway: QdrantIndex) -> None:
    moved_halfway.delete_document("acme", "doc_2")
    moved_halfway.delete_version("acme", "doc_1", "ver_1")
    assert (moved_halfway.count("acme"), moved_halfway.holdings().versions) == (0, ())
    assert ids(moved_halfway, 4) == []


def test_what_is_forgotten_of_the_older_ones_stays_in_todays(moved_halfway: QdrantIndex) -> None:
    moved_halfway.forget_older("acme", "doc_2")
    assert (moved_halfway.count_older("acme"), ids(moved_halfway, 4)) == (1, ["a", "b"])
    moved_halfway.forget_older("acme")
    assert (moved_halfway.older_dimensions(), ids(moved_halfway, 4)) == (set(), ["b"])


def test_the_layout_before_labels_is_searched_by_its_vectors_too(qdrant_server: QdrantServer) -> None:
    index = QdrantIndex.connect(qdrant_server.url, 3, "a-model")
    before = index._current.name.replace("chunks-3-", "chunks-2-")
    qdrant_server.behind.create_collection(
        before,
        {"dense": VectorParams(size=3, distance=Distance.COSINE)},
        sparse_vectors_config={"sparse": SparseVectorParams(modifier=Modifier.IDF)},
    )
    indices, values = sparse.chunk_vector("The bridge.")
    payload = {"tenant": "acme", "document_id": "doc_1", "version_id": "ver_1", "chunk_id": "old", "ordinal": 0}
    vector = {"dense": X, "sparse": SparseVector(indices=indices, values=values)}
    qdrant_server.behind.upsert(before, [PointStruct(id=1, vector=vector, payload=payload)])
    index.close()
    index = QdrantIndex.connect(qdrant_server.url, 3, "a-model")
    (found,) = index.search("acme", Question("?", X), 3, mode=SearchMode.DENSE)
    assert (found.chunk_id, found.cosine) == ("old", pytest.approx(1.0))
    assert ids(index, 3, Scope(collections=("press",))) == []
    index.label("acme", "doc_1", ["press"], [])
    assert ids(index, 3, Scope(collections=("press",))) == ["old"]
    index.close()
