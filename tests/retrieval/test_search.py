from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from retrieval.index import EVERYWHERE, IndexedChunk, Scope
from retrieval.qdrant_index import QdrantIndex
from retrieval.search import Retriever


@dataclass(frozen=True)
class Record:
    id: str
    tenant: str = "acme"
    document_id: str = "doc_1"
    document_title: str = "Leave policy"
    document_name: str = "leave.md"
    page: int | None = 2
    heading: str | None = "Holiday"
    start: int = 10
    end: int = 20
    text: str = ""
    token_ids: list[int] = field(default_factory=lambda: [1, 2, 3])
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Catalog:
    """The live chunks, as the real catalog gives them."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}

    def chunks_by_id(
        self,
        tenant: str,
        ids: Sequence[str],
        *,
        document_ids: Sequence[str] | None = None,
        collections: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> list[Record]:
        found = [self.records[chunk_id] for chunk_id in sorted(ids) if chunk_id in self.records]
        return [
            record
            for record in found
            if record.tenant == tenant
            and (document_ids is None or record.document_id in document_ids)
            and (collections is None or set(record.collections) & set(collections))
            and (tags is None or set(record.tags) & set(tags))
        ]


class Pointing:
    """Every question points the same way."""

    def embed_query(self, question: str) -> list[float]:
        return [1.0, 0.0, 0.0]

    def reads(self, text: str) -> bool:
        return text.isascii()


class Library:
    def __init__(self, index: QdrantIndex) -> None:
        self.index = index
        self.catalog = Catalog()
        self.retriever = Retriever(Pointing(), index, self.catalog)

    def add(self, record: Record, away: float) -> None:
        record = replace(record, text=record.text or f"Only {record.id} says this.")
        self.catalog.records[record.id] = record
        vector = [1.0, away, 0.0]
        chunk = IndexedChunk(record.id, record.document_id, "ver_1", record.tenant, 0, record.text, vector)
        self.index.upsert([replace(chunk, collections=list(record.collections), tags=list(record.tags))])

    def ids(self, top_k: int = 3, min_score: float = 0.0, question: str = "?", scope: Scope = EVERYWHERE) -> list[str]:
        passages = self.retriever.retrieve("acme", question, top_k, min_score, scope)
        return [passage.chunk_id for passage in passages]


@pytest.fixture
def library(local_index: QdrantIndex) -> Library:
    return Library(local_index)


def test_a_passage_carries_what_the_catalog_knows_of_its_chunk(library: Library) -> None:
    library.add(Record("a", text="Ten words."), away=0.0)
    (passage,) = library.retriever.retrieve("acme", "How long?", 3, 0.2)
    assert passage.score == pytest.approx(2 / 3)
    assert (passage.n, passage.chunk_id, passage.document_id) == (1, "a", "doc_1")
    assert (passage.title, passage.name, passage.page, passage.heading) == ("Leave policy", "leave.md", 2, "Holiday")
    assert (passage.start, passage.end, passage.text, passage.token_ids) == (10, 20, "Ten words.", [1, 2, 3])


def test_passages_are_numbered_from_the_best(library: Library) -> None:
    for name, away in [("c", 3.0), ("a", 0.1), ("b", 1.0), ("d", 9.0)]:
        library.add(Record(name), away)
    passages = library.retriever.retrieve("acme", "?", 3, 0.0)
    assert [(passage.n, passage.chunk_id) for passage in passages] == [(1, "a"), (2, "b"), (3, "c")]


def test_nothing_is_found_where_the_best_chunk_is_not_near_enough(library: Library) -> None:
    library.add(Record("a", text="The bridge was built in 1932."), away=3.0)
    assert library.ids(min_score=0.35, question="When were holidays introduced?") == []
    assert library.ids(min_score=0.35, question="When was the bridge built?") == ["a"]


def test_chunks_not_half_as_near_as_they_should_be_are_left_out(library: Library) -> None:
    library.add(Record("near"), away=0.1)
    library.add(Record("less"), away=2.0)
    library.add(Record("far"), away=9.0)
    assert library.ids(min_score=0.6) == ["near", "less"]


def test_nothing_is_found_among_chunks_that_are_all_too_far(library: Library) -> None:
    for number in range(40):
        library.add(Record(f"far_{number}"), away=9.0)
    assert library.ids(min_score=0.5) == []


def test_a_question_the_embedding_model_cannot_read_is_searched_by_its_words(library: Library) -> None:
    library.add(Record("near", text="橋の長さは百メートルです。"), away=0.0)
    library.add(Record("far", text="休暇は年に二十五日です。"), away=5.0)
    assert library.ids(min_score=0.35, question="休暇は何日ですか") == ["far"]
    assert library.ids(min_score=0.35, question="社長は誰ですか") == []


def test_copies_give_their_places_to_others(library: Library) -> None:
    for number in range(30):
        library.add(Record(f"copy_{number}", text="Page 3. The BRIDGE was built in 1932, by hand."), away=0.1)
    library.add(Record("other", text="It was built by 300 people."), away=0.5)
    found = library.ids(top_k=2, question="bridge")
    assert len(found) == 2
    assert found[1] == "other"


def test_with_diversity_a_chunk_like_a_better_one_comes_later(library: Library) -> None:
    library.add(Record("best", text="The bridge over the river was built in 1932 by hand."), away=0.0)
    library.add(Record("like", text="The bridge over the river was built in 1933 by crane."), away=0.1)
    library.add(Record("other", text="Employees get 25 days of holiday."), away=0.2)
    assert library.ids(top_k=2) == ["best", "like"]
    varied = Retriever(Pointing(), library.index, library.catalog, diversity=0.6)
    assert [passage.chunk_id for passage in varied.retrieve("acme", "?", 2, 0.0)] == ["best", "other"]


def test_chunks_the_catalog_no_longer_knows_are_never_retrieved(library: Library) -> None:
    for number in range(60):
        library.add(Record(f"dead_{number}"), away=0.1)
        del library.catalog.records[f"dead_{number}"]
    for name in ("live_1", "live_2"):
        library.add(Record(name), away=1.0)
    assert sorted(library.ids()) == ["live_1", "live_2"]


def test_another_tenants_chunks_are_never_retrieved(library: Library) -> None:
    library.add(Record("theirs", tenant="globex"), away=0.0)
    assert library.ids() == []


def test_a_question_may_be_asked_of_some_documents(library: Library) -> None:
    library.add(Record("a", document_id="doc_1"), away=0.0)
    library.add(Record("b", document_id="doc_2"), away=1.0)
    assert library.ids(scope=Scope(("doc_2",))) == ["b"]
    assert library.ids(scope=Scope(())) == []


def test_a_question_may_be_asked_of_collections_and_tags(library: Library) -> None:
    library.add(Record("a", collections=("press",), tags=("new",)), away=0.0)
    library.add(Record("b", collections=("press", "staff")), away=1.0)
    assert library.ids(scope=Scope(collections=("press",))) == ["a", "b"]
    assert library.ids(scope=Scope(collections=("press",), tags=("new", "old"))) == ["a"]
    assert library.ids(scope=Scope(collections=("staff",), tags=("new",))) == []
    assert library.ids(scope=Scope(tags=())) == []


def test_whatever_the_index_says_the_catalogs_labels_decide(library: Library) -> None:
    for number in range(20):
        library.add(Record(f"was_{number}", collections=("press",)), away=0.1)
        library.catalog.records[f"was_{number}"] = replace(library.catalog.records[f"was_{number}"], collections=())
    library.add(Record("is", collections=("press",)), away=1.0)
    assert library.ids(top_k=2, scope=Scope(collections=("press",))) == ["is"]
