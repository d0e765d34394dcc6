"""Older collections: found as far as they can be, deleted and counted, until they are forgotten."""

from pathlib import Path

import pytest
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams

from retrieval.edge_client import EdgeClient
from retrieval.index import IndexedChunk
from retrieval.nearness import Question
from retrieval.qdrant_index import QdrantIndex

X, Y = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]


def chunk(chunk_id: str, vector: list[float], document_id: str = "doc_1", tenant: str = "acme") -> IndexedChunk:
    return IndexedChunk(chunk_id, document_id, "ver_1", tenant, 0, f"The bridge {chunk_id}.", vector)


def ids(index: QdrantIndex, text: str = "?") -> list[str]:
    return [found.chunk_id for found in index.search("acme", Question(text, X), 10)]


@pytest.fixture
def unnamed(tmp_path: Path) -> Path:
    """A folder as it was made before collections had names: two documents, one vector a chunk, no words."""
    client = QdrantClient(path=str(tmp_path))
    client.create_collection("chunks", VectorParams(size=3, distance=Distance.COSINE))
    for number in (1, 2):
        payload = {"tenant": "acme", "document_id": f"doc_{number}", "version_id": "v", "chunk_id": f"old_{number}"}
        client.upsert("chunks", [PointStruct(id=number, vector=[1.0, number, 0.0], payload=payload)])
    client.create_collection("others", VectorParams(size=3, distance=Distance.COSINE))
    client.close()
    return tmp_path


def test_chunks_of_the_layout_before_go_on_answering_beside_new_ones(unnamed: Path) -> None:
    index = QdrantIndex.open_local(unnamed, 3, "a-model")
    index.upsert([chunk("new", [1.0, 0.5, 0.0], "doc_3")])
    assert ids(index) == ["new", "old_1", "old_2"]
    assert (index.count("acme"), index.count_older("acme"), index.count_older("globex")) == (3, 2, 0)
    index.close()


def test_a_deleted_document_is_gone_from_the_older_collection_too(unnamed: Path) -> None:
    index = QdrantIndex.open_local(unnamed, 3, "a-model")
    index.delete_document("acme", "doc_1")
    assert (ids(index), index.count("acme", "doc_1")) == (["old_2"], 0)
    index.close()


def test_a_chunk_in_both_is_found_once(unnamed: Path) -> None:
    index = QdrantIndex.open_local(unnamed, 3, "a-model")
    index.upsert([chunk("old_1", X)])
    assert ids(index, "bridge") == ["old_1", "old_2"]
    index.close()


def test_an_older_collection_goes_with_its_last_document_and_foreign_ones_stay(unnamed: Path) -> None:
    index = QdrantIndex.open_local(unnamed, 3, "a-model")
    index.forget_older("acme", "doc_1")
    index.forget_older("globex")
    assert ids(index) == ["old_2"]
    index.forget_older("acme", "doc_2")
    index.close()
    client = EdgeClient(unnamed / "shards")
    names = [each.name for each in client.get_collections().collections]
    client.close()
    assert "others" in names
    assert "chunks" not in names


@pytest.mark.parametrize(("dimension", "model"), [(4, "a-model"), (3, "another-model")])
def test_with_another_embedding_model_old_chunks_are_found_by_their_words(
    tmp_path: Path, dimension: int, model: str
) -> None:
    before = QdrantIndex.open_local(tmp_path, 3, "a-model")
    before.upsert([chunk("old", Y)])
    before.close()
    index = QdrantIndex.open_local(tmp_path, dimension, model)
    (found,) = index.search("acme", Question("Which bridge?", [1.0] * dimension), 5)
    assert (found.chunk_id, found.cosine) == ("old", None)
    assert index.missing(["old"]) == {"old"}
    index.upsert([chunk("old", [1.0] * dimension)])
    assert index.missing(["old"]) == set()
    index.close()


def test_vectors_of_another_layout_are_not_compared(tmp_path: Path, unnamed: Path) -> None:
    index = QdrantIndex.open_local(unnamed, 4, "a-model")
    assert index.search("acme", Question("Which bridge?", [1.0] * 4), 5) == []
    assert index.count_older("acme") == 2
    index.close()
