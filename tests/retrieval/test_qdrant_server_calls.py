"""What we send to a Qdrant server, and what we make of a server that refuses, is slow, or goes away."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from qdrant_client.models import Distance, VectorParams
from qdrant_server import Answer, Asked, QdrantServer
from recordings import FOLDER, recorded

from app.core.errors import PrereadError
from retrieval.errors import DimensionMismatch, IndexRefused, IndexUnavailable
from retrieval.index import IndexedChunk
from retrieval.index_layout import FILTERED
from retrieval.nearness import Question
from retrieval.qdrant_index import QdrantIndex
from retrieval.qdrant_server import open_client, version_problem

X = [1.0, 0.0, 0.0]
ASKING = Question("Which bridge?", X)
CHUNK = IndexedChunk("chk_1_0", "doc_1", "ver_1", "acme", 0, "A bridge.", X)
CHANGES = {
    "upsert": lambda index: index.upsert([CHUNK]),
    "delete_document": lambda index: index.delete_document("acme", "doc_1"),
    "delete_version": lambda index: index.delete_version("acme", "doc_1", "ver_1"),
    "label": lambda index: index.label("acme", "doc_1", ["a"], []),
    "forget_older": lambda index: index.forget_older("acme"),
}
QUESTIONS = {
    "search": lambda index: index.search("acme", ASKING, 3),
    "count": lambda index: index.count("acme"),
    "holdings": lambda index: index.holdings(),
    "missing": lambda index: index.missing(["chk_1_0"]),
    "check": lambda index: index.check(3),
    "count_older": lambda index: index.count_older("acme"),
}
CALLS = {**CHANGES, **QUESTIONS}


@pytest.fixture
def served(qdrant_server: QdrantServer) -> Iterator[QdrantIndex]:
    """With one chunk, and one more in a collection of the layout before."""
    qdrant_server.behind.create_collection("chunks", VectorParams(size=3, distance=Distance.COSINE))
    index = QdrantIndex.connect(qdrant_server.url, 3, "a-model", timeout_seconds=5)
    index.upsert([CHUNK])
    yield index
    index.close()


def named(error: pytest.ExceptionInfo[PrereadError], server: QdrantServer) -> None:
    assert server.url in error.value.message
    assert error.value.hint


def test_what_is_sent_is_what_was_written_down() -> None:
    written = {path.stem: path.read_text() for path in FOLDER.glob("*.json")}
    assert recorded() == written, "if that is meant: PYTHONPATH=tests .venv/bin/python tests/retrieval/recordings.py"


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_waited_for(served: QdrantIndex, qdrant_server: QdrantServer, change: str) -> None:
    qdrant_server.asked.clear()
    CHANGES[change](served)
    reads = ("/query/batch", "/count", "/scroll")
    changes = [each for each in qdrant_server.asked if "/points" in each.path and not each.path.endswith(reads)]
    assert changes
    assert all(each.query == {"wait": "true"} for each in changes)


@pytest.mark.parametrize("status", ["acknowledged", "wait_timeout"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_is_not_made_when_the_server_answers_has_failed(
    served: QdrantIndex, qdrant_server: QdrantServer, change: str, status: str
) -> None:
    def not_yet(asked: Asked) -> Answer | None:
        changes = asked.query.get("wait") == "true"
        return Answer(200, {"result": {"operation_id": 1, "status": status}, "status": "ok"}) if changes else None

    qdrant_server.before = not_yet
    with pytest.raises(IndexUnavailable, match="not made a change yet") as error:
        CHANGES[change](served)
    named(error, qdrant_server)


def test_all_that_is_filtered_by_is_indexed_in_older_collections_too(
    served: QdrantIndex, qdrant_server: QdrantServer
) -> None:
    """Else a strict server, as managed ones are, would refuse the very first deletion."""
    names = [each.name for each in qdrant_server.behind.get_collections().collections]
    assert len(names) == 2
    assert all(qdrant_server.indexed(name) == set(FILTERED) for name in names)
    qdrant_server.asked.clear()
    QdrantIndex.connect(qdrant_server.url, 3, "a-model").close()
    assert not [each for each in qdrant_server.asked if each.method == "PUT"], "what is there is not made again"


def test_whoever_makes_the_collection_a_moment_later_uses_it_all_the_same(qdrant_server: QdrantServer) -> None:
    QdrantIndex.connect(qdrant_server.url, 3, "a-model").close()
    unseen = iter([True])

    def not_there_yet(asked: Asked) -> Answer | None:
        if asked.path.endswith("/exists") and next(unseen, False):
            return Answer(200, {"result": {"exists": False}, "status": "ok"})
        return None

    qdrant_server.before = not_there_yet
    late = QdrantIndex.connect(qdrant_server.url, 3, "a-model")
    assert [each.method for each in qdrant_server.asked if each.path.count("/") == 2].count("PUT") == 2
    late.upsert([CHUNK])
    assert late.count("acme") == 1
    late.close()


def test_many_that_start_at_once_make_one_collection(qdrant_server: QdrantServer) -> None:
    with ThreadPoolExecutor(8) as pool:
        indexes = list(pool.map(lambda _: QdrantIndex.connect(qdrant_server.url, 3, "a-model"), range(8)))
    for number, index in enumerate(indexes):
        index.upsert([IndexedChunk(f"chk_{number}", f"doc_{number}", "ver_1", "acme", 0, "A bridge.", X)])
        index.close()
    (collection,) = qdrant_server.behind.get_collections().collections
    assert qdrant_server.behind.count(collection.name).count == 8


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "answer",
    [
        Answer(500, {"status": {"error": "Service internal error: no space left"}, "time": 0.0}),
        Answer(503, "upstream connect error"),
        Answer(502, ""),
        Answer(429, {"status": {"error": "Rate limiting exceeded"}, "time": 0.0}),
        Answer(429, {"status": {"error": "Rate limiting exceeded"}, "time": 0.0}, {"retry-after": "3"}),
        Answer(429, {"status": {"error": "Rate limiting exceeded"}, "time": 0.0}, {"retry-after": "tomorrow"}),
        Answer(400, {"status": {"error": "Bad request: unknown field"}, "time": 0.0}),
        Answer(404, {"status": {"error": "Not found: Collection `x` doesn't exist!"}, "time": 0.0}),
        Answer(200, "<html>a proxy's page</html>"),
        Answer(200, {"unexpected": True}),
    ],
    ids=lambda answer: f"{answer.status} {str(answer.body)[:12]} {answer.headers}",
)
def test_a_server_that_fails_is_unavailable_by_its_address(
    served: QdrantIndex, qdrant_server: QdrantServer, call: str, answer: Answer
) -> None:
    qdrant_server.before = lambda asked: answer
    with pytest.raises(IndexUnavailable) as error:
        CALLS[call](served)
    named(error, qdrant_server)
    assert error.value.status == 503
    qdrant_server.before = lambda asked: None
    CALLS[call](served)


@pytest.mark.parametrize("call", ["search", "upsert", "delete_document"])
def test_a_server_that_does_not_answer_in_time_is_unavailable(
    served: QdrantIndex, qdrant_server: QdrantServer, call: str
) -> None:
    awake = threading.Event()
    qdrant_server.before = lambda asked: awake.wait(60) and None
    with pytest.raises(IndexUnavailable, match="timed out") as error:
        CALLS[call](served)
    awake.set()
    named(error, qdrant_server)


@pytest.mark.parametrize("call", CALLS)
def test_a_server_that_has_gone_is_unavailable_by_its_address(
    served: QdrantIndex, qdrant_server: QdrantServer, call: str
) -> None:
    qdrant_server.stop()
    with pytest.raises(IndexUnavailable) as error:
        CALLS[call](served)
    named(error, qdrant_server)


def test_an_older_collection_that_goes_during_a_call_is_as_good_as_empty(
    served: QdrantIndex, qdrant_server: QdrantServer
) -> None:
    def removed_by_another(asked: Asked) -> None:
        if asked.path.startswith("/collections/chunks/points"):
            qdrant_server.behind.delete_collection("chunks")

    for name, call in CALLS.items():
        if name in ("upsert", "check", "missing", "delete_document", "delete_version"):
            continue
        if not qdrant_server.behind.collection_exists("chunks"):
            qdrant_server.behind.create_collection("chunks", VectorParams(size=3, distance=Distance.COSINE))
        qdrant_server.before = removed_by_another
        call(served)
    assert served.count("acme") == 1


def test_a_collection_that_is_lost_says_so(served: QdrantIndex, qdrant_server: QdrantServer) -> None:
    qdrant_server.behind.delete_collection(served._current.name)
    with pytest.raises(IndexUnavailable, match="has lost a collection") as error:
        served.search("acme", ASKING, 3)
    assert "Restart web" in error.value.hint


def test_a_collection_of_another_dimension_under_todays_name_is_told_with_both_numbers(
    served: QdrantIndex, qdrant_server: QdrantServer
) -> None:
    name = served._current.name
    qdrant_server.behind.delete_collection(name)
    qdrant_server.behind.create_collection(name, {"dense": VectorParams(size=5, distance=Distance.COSINE)})
    for index in (served, QdrantIndex.connect(qdrant_server.url, 3, "a-model")):
        for call in (lambda index: index.check(3), CALLS["search"], CALLS["upsert"]):
            with pytest.raises(DimensionMismatch, match=r"3 numbers.* 5\."):
                call(index)
    index.close()


@pytest.fixture
def locked() -> Iterator[QdrantServer]:
    server = QdrantServer(api_key="letmein")
    yield server
    server.stop()


def test_the_api_key_goes_with_every_request(locked: QdrantServer) -> None:
    index = QdrantIndex.connect(locked.url, 3, "a-model", api_key="letmein")
    for call in CALLS.values():
        call(index)
    index.close()
    assert locked.keys == {"letmein"}


@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_wrong_api_key_is_refused_naming_the_setting(locked: QdrantServer, key: str) -> None:
    with pytest.raises(IndexRefused, match="does not let us in") as error:
        QdrantIndex.connect(locked.url, 3, "a-model", api_key=key)
    named(error, locked)
    assert "PREREAD_QDRANT_API_KEY" in error.value.hint


def test_a_key_that_may_only_read_is_refused(served: QdrantIndex, qdrant_server: QdrantServer) -> None:
    qdrant_server.before = lambda asked: Answer(403, {"status": {"error": "Forbidden: write access is required"}})
    with pytest.raises(IndexRefused, match="write access is required"):
        served.upsert([CHUNK])


def test_a_password_in_the_address_is_not_told(qdrant_server: QdrantServer) -> None:
    address = qdrant_server.url.replace("http://", "http://me:hunter2@")
    index = QdrantIndex.connect(address, 3, "a-model")
    qdrant_server.stop()
    with pytest.raises(IndexUnavailable) as error:
        index.count("acme")
    assert "hunter2" not in error.value.message
    named(error, qdrant_server)


@pytest.mark.parametrize("url", ["qdrant:6333", "ftp://qdrant:6333", "http://qdrant:port"])
def test_what_is_no_address_is_refused_naming_the_setting(url: str) -> None:
    with pytest.raises(IndexRefused) as error:
        QdrantIndex.connect(url, 3, "a-model")
    assert "PREREAD_QDRANT_URL" in error.value.hint


@pytest.mark.parametrize(("version", "fits"), [("1.19.1", True), ("1.20.0", True), ("1.12.0", False), ("2.0.0", False)])
def test_a_server_of_a_version_too_far_away_is_told(version: str, fits: bool) -> None:
    server = QdrantServer(version=version)
    client = open_client(server.url)
    try:
        problem = version_problem(client)
    finally:
        client.close()
        server.stop()
    assert (problem is None) is fits
    assert fits or version in str(problem)
