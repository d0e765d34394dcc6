"""What every index does, however it is reached (`index_kinds`)."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from index_kinds import remote

from app.core.errors import PrereadError
from retrieval.errors import DimensionMismatch, IndexLocked, IndexRefused, IndexUnavailable
from retrieval.index import EVERYWHERE, ChunkIndex, Holdings, IndexedChunk, Scope, SearchMode
from retrieval.index_wire import answer
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
    collections: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> IndexedChunk:
    return IndexedChunk(chunk_id, document_id, version_id, tenant, 0, text, vector, list(collections), list(tags))


def asking(vector: list[float], text: str = "?") -> Question:
    return Question(text, vector)


def ids(index: ChunkIndex, vector: list[float], scope: Scope = EVERYWHERE) -> list[str]:
    return [found.chunk_id for found in index.search("acme", asking(vector), 10, scope)]


def holdings(index: ChunkIndex, limit: int) -> list[Holdings]:
    """All pages."""
    pages = [index.holdings(limit=limit)]
    while pages[-1].after is not None:
        pages.append(index.holdings(pages[-1].after, limit))
    return pages


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
    assert index.search("acme", question, 5, Scope(("doc_1",)), SearchMode.SPARSE) == []
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
    assert ids(index, X, Scope(("doc_1",))) == ["mine"]
    index.delete_document("acme", "doc_1")
    index.delete_version("acme", "doc_1", "ver_1")
    assert (index.count("acme"), index.count("globex")) == (0, 1)


def test_a_scope_of_documents_limits_the_search_and_an_empty_one_finds_nothing(index: ChunkIndex) -> None:
    index.upsert([chunk("a", X, "doc_1"), chunk("b", X, "doc_2"), chunk("c", X, "doc_3")])
    assert sorted(ids(index, X, Scope(("doc_1", "doc_3")))) == ["a", "c"]
    assert ids(index, X, Scope(())) == []


def test_a_scope_of_labels_wants_one_of_each_kind(index: ChunkIndex) -> None:
    index.upsert(
        [
            chunk("plain", X, "doc_1"),
            chunk("press", X, "doc_2", collections=("press",), tags=("2024", "new")),
            chunk("both", X, "doc_3", collections=("press", "staff"), tags=("old",)),
        ]
    )
    assert sorted(ids(index, X, Scope(collections=("press",)))) == ["both", "press"]
    assert ids(index, X, Scope(collections=("press", "staff"), tags=("new", "none"))) == ["press"]
    assert ids(index, X, Scope(collections=("staff",), tags=("new",))) == []
    assert ids(index, X, Scope(("doc_1", "doc_3"), ("press",))) == ["both"]
    assert ids(index, X, Scope(tags=("Old",))) == []


@pytest.mark.parametrize("empty", [Scope(()), Scope(None, ()), Scope(None, None, ()), Scope(("doc_1",), ("a",), ())])
@pytest.mark.parametrize("mode", SearchMode)
def test_in_an_empty_scope_nothing_is_found(index: ChunkIndex, empty: Scope, mode: SearchMode) -> None:
    index.upsert([chunk("a", X, collections=("a",), tags=("a",), text="Holiday.")])
    assert index.search("acme", asking(X, "holiday"), 5, empty, mode) == []


def test_new_labels_hold_for_all_versions_of_the_tenants_document_at_once(index: ChunkIndex) -> None:
    index.upsert([chunk("old", X, collections=("a",)), chunk("new", X, version_id="ver_2", tags=("a",))])
    index.upsert([chunk("other", X, "doc_2", collections=("a",)), chunk("theirs", X, tenant="globex")])
    index.label("acme", "doc_1", ["b"], ["c", "d"])
    assert sorted(ids(index, X, Scope(collections=("b",), tags=("d",)))) == ["new", "old"]
    assert ids(index, X, Scope(collections=("a",))) == ["other"]
    assert index.search("globex", asking(X), 5, Scope(collections=("b",))) == []
    index.label("acme", "doc_1", [], [])
    assert ids(index, X, Scope(collections=("b",))) == []
    assert sorted(ids(index, X)) == ["new", "old", "other"]
    index.label("acme", "doc_9", ["b"], [])


@pytest.mark.parametrize("label", ["a b", "Größe", "社内規程", "a'b\"c", "*", "x" * 64])
def test_any_text_may_be_a_label(index: ChunkIndex, label: str) -> None:
    index.upsert([chunk("a", X, tags=(label,)), chunk("b", X, tags=("other",))])
    assert ids(index, X, Scope(tags=(label,))) == ["a"]


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_all_that_is_held_is_listed_of_every_tenant_with_its_labels(index: ChunkIndex, limit: int) -> None:
    assert index.holdings() == Holdings((), None)
    index.upsert([chunk("a", X), chunk("b", X), chunk("c", X, version_id="ver_2", collections=("z", "y"))])
    index.upsert([chunk("d", X, "doc_2", "ver_3", "globex", tags=("t",))])
    pages = holdings(index, limit)
    held = {(each.place, each.collections, each.tags) for page in pages for each in page.versions}
    assert held == {
        (("acme", "doc_1", "ver_1"), (), ()),
        (("acme", "doc_1", "ver_2"), ("y", "z"), ()),
        (("globex", "doc_2", "ver_3"), (), ("t",)),
    }
    assert all(len(page.versions) <= limit for page in pages)


def test_what_is_deleted_between_two_pages_does_not_end_the_list(index: ChunkIndex) -> None:
    index.upsert([chunk(f"chunk_{n}", X, f"doc_{n}", f"ver_{n}") for n in range(9)])
    first = index.holdings(limit=4)
    seen = {each.document_id for each in first.versions}
    gone = next(iter({f"doc_{n}" for n in range(9)} - seen))
    index.delete_document("acme", gone)
    rest = index.holdings(first.after, limit=100)
    assert rest.after is None
    assert seen | {each.document_id for each in rest.versions} == {f"doc_{n}" for n in range(9)} - {gone}


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


def test_vectors_of_another_length_are_refused_naming_both_numbers(index: ChunkIndex) -> None:
    index.check(3)
    for call in (
        lambda: index.check(2),
        lambda: index.search("acme", asking([1.0, 0.0]), 3),
        lambda: index.upsert([chunk("a", X), chunk("b", [1.0] * 2)]),
    ):
        with pytest.raises((DimensionMismatch, IndexRefused), match=r"2 numbers.* 3\."):
            call()
    assert index.count("acme") == 0


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
        ("holdings", b'{"limit": 0}', "bad_input"),
        ("search", b'{"tenant": "a", "question": {"text": "", "vector": []}, "top_k": 1, "scope": []}', "bad_input"),
    ],
)
def test_a_malformed_call_is_refused(local_index: QdrantIndex, operation: str, body: bytes, code: str) -> None:
    with pytest.raises(PrereadError) as raised:
        answer(local_index, operation, body)
    assert raised.value.code == code
