"""Passages ordered by a cross-encoder; the one here likes those that say "yes"."""

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from cross_encoder import make_cross_encoder
from test_search import Library, Pointing, Record

from app.cli.checks.finding import Level
from app.cli.checks.reranker import check_reranker
from app.core.settings import Settings
from retrieval.errors import RerankerUnavailable
from retrieval.index import Scope
from retrieval.qdrant_index import QdrantIndex
from retrieval.reranking import Reranker, open_reranker
from retrieval.search import PassageReranker, Retriever

TEXTS = {
    "nearest": "no no no garden",
    "second": "no yes no winter",
    "third": "yes yes no kitchen",
    "last": "yes yes yes office",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


class Failing:
    """A model that breaks off, or gives these scores."""

    candidates = 4

    def __init__(self, scores: list[float] | None = None) -> None:
        self._scores = scores

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        if self._scores is None:
            raise RuntimeError("not enough memory")
        return self._scores[: len(texts)]


@pytest.fixture
def library(local_index: QdrantIndex) -> Library:
    library = Library(local_index)
    for number, (name, text) in enumerate(TEXTS.items()):
        library.add(Record(name, text=text, document_id=f"doc_{name}", tags=("kept",) if number else ()), number / 4)
    return library


def with_reranker(library: Library, reranker: PassageReranker, diversity: float = 0.0) -> Library:
    library.retriever = Retriever(Pointing(), library.index, library.catalog, diversity=diversity, reranker=reranker)
    return library


def test_passages_come_in_the_order_of_the_rerankers_scores(library: Library, folder: Path) -> None:
    assert library.ids(top_k=2) == ["nearest", "second"]
    assert with_reranker(library, Reranker(str(folder), 20)).ids(top_k=2) == ["last", "third"]


def test_scores_are_those_of_each_passage_alone_whatever_the_batch(folder: Path) -> None:
    reranker = Reranker(str(folder), 20)
    texts = [*TEXTS.values(), "yes", "no " * 40] * 4
    alone = [reranker.scores("which bridge", [text])[0] for text in texts]
    assert reranker.scores("which bridge", texts) == pytest.approx(alone, abs=1e-5)
    assert reranker.scores("which bridge", []) == []
    assert alone[0] < alone[1] < alone[2] < alone[3]


def test_only_the_best_candidates_of_the_search_are_ordered(library: Library, folder: Path) -> None:
    assert with_reranker(library, Reranker(str(folder), 3)).ids(top_k=4) == ["third", "second", "nearest", "last"]
    assert with_reranker(library, Reranker(str(folder), 2)).ids(top_k=4) == ["second", "nearest", "third", "last"]


def test_a_reranker_changes_neither_how_near_passages_are_nor_whether_there_is_an_answer(
    library: Library, folder: Path
) -> None:
    before = {p.chunk_id: p.score for p in library.retriever.retrieve("acme", "?", 4, 0.0)}
    with_reranker(library, Reranker(str(folder), 20))
    after = library.retriever.retrieve("acme", "?", 4, 0.0)
    assert {p.chunk_id: p.score for p in after} == before
    assert [p.n for p in after] == [1, 2, 3, 4]
    assert library.ids(min_score=before["nearest"] + 0.01) == []
    assert library.ids(min_score=before["nearest"])


def test_a_reranker_sees_what_is_in_the_scope_only(library: Library, folder: Path) -> None:
    with_reranker(library, Reranker(str(folder), 20))
    assert library.ids(top_k=4, scope=Scope(tags=("kept",))) == ["last", "third", "second"]
    assert library.ids(top_k=4, scope=Scope(document_ids=("doc_second", "doc_nearest"))) == ["second", "nearest"]


def test_with_diversity_the_rerankers_order_stands_for_relevance(library: Library, folder: Path) -> None:
    library.add(Record("like", text="yes yes yes office lamp"), 0.9)
    with_reranker(library, Reranker(str(folder), 20))
    assert library.ids(top_k=2) == ["last", "like"]
    assert with_reranker(library, Reranker(str(folder), 20), diversity=0.9).ids(top_k=2) == ["last", "third"]


def test_a_text_longer_than_the_model_reads_is_cut_off(folder: Path) -> None:
    reranker = Reranker(str(folder), 20)
    long, cut = reranker.scores("which bridge", ["no " * 500 + "yes " * 500, "no " * 500])
    assert long == pytest.approx(cut)
    assert reranker.scores("which bridge " * 500, ["yes " * 500])


@pytest.mark.parametrize("failing", [Failing(), Failing([float("nan")] * 4)], ids=["breaks off", "no number"])
def test_where_the_reranker_fails_the_order_of_the_search_stands(
    library: Library, failing: Failing, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert with_reranker(library, failing).ids(top_k=2) == ["nearest", "second"]
    assert "the passages keep the order of the search" in caplog.text


def test_a_model_that_is_not_there_or_no_reranker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RerankerUnavailable, match="cannot be loaded"):
        Reranker(str(tmp_path), 20)
    two_outputs = make_cross_encoder(tmp_path / "two", outputs=2)
    with pytest.raises(RerankerUnavailable, match="has 2 outputs"):
        Reranker(str(two_outputs), 20)


def test_the_settings_name_the_reranker_and_doctor_shows_it(tmp_path: Path, folder: Path) -> None:
    none = Settings(state_dir=tmp_path)
    assert open_reranker(none) is None
    assert check_reranker(none).level is Level.OK
    chosen = Settings(state_dir=tmp_path, reranker=str(folder), rerank_candidates=7)
    reranker = open_reranker(chosen)
    assert reranker is not None
    assert reranker.candidates == 7
    assert "the best 7 passages" in check_reranker(chosen).message
    wrong = check_reranker(Settings(state_dir=tmp_path, reranker=str(tmp_path / "none")))
    assert wrong.level is Level.FAIL
    assert "PREREAD_RERANKER" in wrong.hint
