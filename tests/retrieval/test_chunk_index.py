"""One index, reached in two ways: directly, and over HTTP through web. Both must behave alike."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from app.core.errors import PrereadError
from retrieval.errors import DimensionMismatch, IndexLocked, IndexRefused, IndexUnavailable
from retrieval.index import ChunkIndex, IndexedChunk, SearchMode
from retrieval.index_wire import PATH, SECRET_HEADER, answer
from retrieval.nearness import Question
from retrieval.qdrant_index import QdrantIndex
from retrieval.remote_index import RemoteIndex

X, Y, Z = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]


def chunk(
    chunk_id: str,
    vector: list[float],
    document_id: str = "doc_1",
    version_id: str = "ver_1",
    tenant: str = "acme",
    text: str = "A text.",
) -> IndexedChunk:
    return IndexedChunk(chunk_id, document_id, version_id, tenant, 0, text, vector)


def asking(vector: list[float], text: str = "?") -> Question:
    return Question(text, vector)


class Web:
    """What web's internal route does, as an httpx transport."""

    def __init__(self, index: ChunkIndex, secret: str) -> None:
        self._index = index
        self._secret = secret

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.headers.get(SECRET_HEADER) != self._secret:
            return httpx.Response(404)
        try:
            return httpx.Response(200, json=answer(self._index, request.url.path.removeprefix(PATH), request.content))
        except PrereadError as error:
            problem = {"code": error.code, "detail": error.message, "hint": error.hint}
            return httpx.Response(
                error.status,
                content=json.dumps(problem),
                headers={"content-type": "application/problem+json"},
            )


def remote(index: ChunkIndex, secret: str = "s3cret") -> RemoteIndex:
    return RemoteIndex("http://web", secret, transport=httpx.MockTransport(Web(index, "s3cret")))


@pytest.fixture(params=["direct", "through web"])
def index(request: pytest.FixtureRequest, local_index: QdrantIndex) -> Iterator[ChunkIndex]:
    if request.param == "direct":
        yield local_index
    else:
        over_http = remote(local_index)
        yield over_http
        over_http.close()


def ids(index: ChunkIndex, vector: list[float], **scope: list[str]) -> list[str]:
    return [found.chunk_id for found in index.search("acme", asking(vector), 10, **scope)]


def test_the_nearest_chunks_come_first_with_their_cosine(index: ChunkIndex) -> None:
    index.upsert([chunk("far", Z), chunk("near", [2.0, 0.0, 0.0]), chunk("between", [1.0, 1.0, 0.0], "doc_2")])
    found = index.search("acme", asking(X), 2)
    assert [(chunk.chunk_id, chunk.document_id) for chunk in found] == [("near", "doc_1"), ("between", "doc_2")]
    assert [chunk.cosine for chunk in found] == pytest.approx([1.0, 0.7071], abs=1e-3)


LEAVE = {"text": "Employees get 25 days of holiday.", "vector": Y}
BRIDGE = {"text": "The bridge XQ-17 was built in 1932.", "vector": Z}


def test_a_chunk_is_found_by_its_words_where_its_vector_is_far(index: ChunkIndex) -> None:
    index.upsert([chunk("leave", **LEAVE), chunk("bridge", **BRIDGE)])
    question = asking(Y, "Who built XQ-17?")
    assert [found.chunk_id for found in index.search("acme", question, 5, mode=SearchMode.SPARSE)] == ["bridge"]
    assert [found.chunk_id for found in index.search("acme", question, 1, mode=SearchMode.DENSE)] == ["leave"]
    for mode in (SearchMode.HYBRID, SearchMode.RRF):
        assert {found.chunk_id for found in index.search("acme", question, 5, mode=mode)} == {"leave", "bridge"}


def test_what_both_ways_find_comes_before_what_one_finds(index: ChunkIndex) -> None:
    index.upsert([chunk("words", text="Holiday, holiday.", vector=Z), chunk("vector", text="None.", vector=X)])
    index.upsert([chunk(f"neither_{number}", text="None.", vector=[1.0, 5.0, number]) for number in range(5)])
    index.upsert([chunk("both", text="Days of holiday.", vector=[1.0, 0.1, 0.0])])
    for mode in (SearchMode.HYBRID, SearchMode.RRF):
        found = index.search("acme", asking(X, "holiday"), 3, mode=mode)
        assert found[0].chunk_id == "both"
        assert found[0].cosine == pytest.approx(0.995, abs=1e-3)


def test_a_chunk_found_by_its_words_alone_has_its_cosine_too(index: ChunkIndex) -> None:
    index.upsert([chunk("bridge", text="A bridge.", vector=[1.0, 1.0, 0.0])])
    (found,) = index.search("acme", asking(X, "bridge"), 3, mode=SearchMode.SPARSE)
    assert found.cosine == pytest.approx(0.7071, abs=1e-3)


def test_words_are_searched_in_the_tenants_chunks_and_the_scope_only(index: ChunkIndex) -> None:
    index.upsert([chunk("theirs", tenant="globex", **BRIDGE), chunk("other", document_id="doc_2", **BRIDGE)])
    question = asking(X, "bridge")
    assert [found.chunk_id for found in index.search("acme", question, 5, mode=SearchMode.SPARSE)] == ["other"]
    assert index.search("acme", question, 5, ["doc_1"], SearchMode.SPARSE) == []
    index.delete_document("acme", "doc_2")
    assert index.search("acme", question, 5, mode=SearchMode.SPARSE) == []


def test_adding_a_chunk_again_replaces_it(index: ChunkIndex) -> None:
    index.upsert([chunk("a", X), chunk("b", Y)])
    index.upsert([chunk("a", Z)])
    assert index.count("acme") == 2
    assert ids(index, Z)[0] == "a"


def test_another_tenants_chunks_are_neither_found_nor_counted_nor_deleted(index: ChunkIndex) -> None:
    index.upsert([chunk("mine", X), chunk("theirs", X, tenant="globex")])
    assert ids(index, X) == ["mine"]
    assert ids(index, X, document_ids=["doc_1"]) == ["mine"]
    index.delete_document("acme", "doc_1")
    index.delete_version("acme", "doc_1", "ver_1")
    assert (index.count("acme"), index.count("globex")) == (0, 1)


def test_a_scope_of_documents_limits_the_search_and_an_empty_one_finds_nothing(index: ChunkIndex) -> None:
    index.upsert([chunk("a", X, "doc_1"), chunk("b", X, "doc_2"), chunk("c", X, "doc_3")])
    assert sorted(ids(index, X, document_ids=["doc_1", "doc_3"])) == ["a", "c"]
    assert ids(index, X, document_ids=[]) == []


def test_a_deleted_document_is_gone_in_every_version(index: ChunkIndex) -> None:
    index.upsert([chunk("old", X), chunk("new", X, version_id="ver_2"), chunk("other", X, "doc_2")])
    index.delete_document("acme", "doc_1")
    assert ids(index, X) == ["other"]
    index.delete_document("acme", "doc_1")


def test_a_deleted_version_leaves_the_others(index: ChunkIndex) -> None:
    index.upsert([chunk("old", X), chunk("new", X, version_id="ver_2")])
    index.delete_version("acme", "doc_1", "ver_1")
    assert ids(index, X) == ["new"]
    assert index.count("acme", "doc_1") == 1


def test_many_chunks_arrive_in_several_requests(index: ChunkIndex) -> None:
    index.upsert([chunk(f"chunk_{number}", X) for number in range(450)])
    assert index.count("acme") == 450


def test_scores_are_finite_even_for_vectors_of_nothing(index: ChunkIndex) -> None:
    index.upsert([chunk("zero", [0.0, 0.0, 0.0]), chunk("a", X)])
    assert all(-1.001 <= found.cosine <= 1.001 for found in index.search("acme", asking([0.0, 0.0, 0.0]), 10))


def test_an_empty_index_finds_nothing(index: ChunkIndex) -> None:
    assert index.search("acme", asking(X), 3) == []
    index.upsert([])
    assert index.count("acme") == 0


def test_vectors_of_another_length_are_refused_naming_both_numbers(local_index: QdrantIndex) -> None:
    with pytest.raises(DimensionMismatch, match=r"2 numbers.* 3\."):
        local_index.search("acme", asking([1.0, 0.0]), 3)
    with pytest.raises(DimensionMismatch):
        local_index.upsert([chunk("a", X), chunk("b", [1.0] * 4)])
    assert local_index.count("acme") == 0
    with pytest.raises(IndexRefused, match=r"2 numbers.* 3\."):
        remote(local_index).search("acme", asking([1.0, 0.0]), 3)


def test_an_index_survives_closing(tmp_path: Path) -> None:
    first = QdrantIndex.open_local(tmp_path, 3, "a-model")
    first.upsert([chunk("a", X)])
    first.close()
    again = QdrantIndex.open_local(tmp_path, 3, "a-model")
    assert ids(again, X) == ["a"]
    again.close()


def test_two_processes_cannot_own_one_folder(tmp_path: Path, local_index: QdrantIndex) -> None:
    with pytest.raises(IndexLocked, match="qdrant"):
        QdrantIndex.open_local(tmp_path / "qdrant", 3, "a-model")


def test_threads_may_add_search_and_delete_at_once(index: ChunkIndex) -> None:
    def work(number: int) -> int:
        document_id = f"doc_{number}"
        index.upsert([chunk(f"{document_id}_{part}", [1.0, number, part], document_id) for part in range(5)])
        index.search("acme", asking(X), 3)
        if number % 2:
            index.delete_document("acme", document_id)
        return index.count("acme", document_id)

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, range(16)))
    assert counts == [5, 0] * 8
    assert index.count("acme") == 40


def test_a_dead_server_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable) as raised:
        QdrantIndex.connect("http://127.0.0.1:9", 3, "a-model")
    assert raised.value.status == 503


def test_a_dead_web_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable, match=r"127\.0\.0\.1:9"):
        RemoteIndex("http://127.0.0.1:9", "s3cret").count("acme")


def test_a_web_that_is_starting_or_broken_is_unavailable(local_index: QdrantIndex) -> None:
    web = httpx.MockTransport(lambda request: httpx.Response(503))
    with pytest.raises(IndexUnavailable, match="503"):
        RemoteIndex("http://web", "s3cret", transport=web).count("acme")


def test_a_wrong_secret_is_refused(local_index: QdrantIndex) -> None:
    with pytest.raises(IndexRefused) as raised:
        remote(local_index, "wrong").count("acme")
    assert "PREREAD_INTERNAL_SECRET" in raised.value.hint


@pytest.mark.parametrize(
    ("operation", "body", "code"),
    [
        ("drop_everything", b"{}", "not_found"),
        ("count", b"{", "bad_input"),
        ("count", b'{"tenant": 7}', "bad_input"),
        ("upsert", b'{"chunks": [{"chunk_id": "a"}]}', "bad_input"),
    ],
)
def test_a_malformed_call_is_refused(local_index: QdrantIndex, operation: str, body: bytes, code: str) -> None:
    with pytest.raises(PrereadError) as raised:
        answer(local_index, operation, body)
    assert raised.value.code == code
