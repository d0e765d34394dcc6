"""What others do, in the same table."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import BadInput
from app.core.settings import get_settings
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Asked, Piece, in_context
from benchmarks.datasets import Question, QuestionSet, load_questions
from benchmarks.prefix_cache import ask_shuffled, shuffled
from benchmarks.quality import baseline_names
from benchmarks.released import Released
from generator.model_source import resolve_model


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True))
def test_shuffled_documents_are_the_same_ones_in_another_order(ids: list[int]) -> None:
    asked = Asked(Question("q", "?", ()), tuple(Piece((number,), ()) for number in ids))
    other = shuffled(asked)
    assert sorted(piece.ids for piece in other.pieces) == sorted(piece.ids for piece in asked.pieces)
    assert (other == asked) == (len(ids) == 1)
    assert shuffled(asked) == other


def test_a_baseline_that_is_none_is_refused_with_those_there_are() -> None:
    assert baseline_names("") == []
    with pytest.raises(BadInput, match="epic") as refused:
        baseline_names("prefix-cache,epic")
    assert "cacheblend-released" in refused.value.hint


@pytest.fixture
def asked(engine: BenchEngine, musique: Path) -> list[Asked]:
    return [in_context(each, engine.tokenizer, 3, 64) for each in load_questions(QuestionSet.MUSIQUE, musique)]


def test_the_prefix_cache_finds_hardly_anything_of_documents_in_another_order(
    engine: BenchEngine, asked: list[Asked]
) -> None:
    row = ask_shuffled(engine, asked, lambda: None)
    assert row["ttft"]["n"] == row["hit_share"]["n"] == 2
    assert 0 <= row["hit_share"]["value"] < 1


def test_cacheblend_as_released_differs_from_the_exact_run_and_costs_what_it_costs(
    engine: BenchEngine, asked: list[Asked]
) -> None:
    dense = Released(resolve_model(get_settings()), engine.tokenizer, engine.preamble, answer_tokens=8)
    row = dense.ask_all(asked[:1], lambda: None)
    assert row["kl_mean"]["value"] > 0.001
    assert 0.16 < row["effective_recompute"]["value"] < 0.4
    assert row["f1"]["n"] == 1
