"""Fusion, nearness and variety: pure functions between the index and the passages."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import reciprocal_rank_fusion, score_fusion
from retrieval.nearness import Question, nearness
from retrieval.variety import most_varied, without_copies

RANKINGS = st.lists(st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 50)), min_size=1, max_size=3)


@dataclass(frozen=True)
class Text:
    text: str


@given(RANKINGS)
def test_fusing_keeps_every_chunk_once(rankings: list[dict[str, float]]) -> None:
    everything = sorted({each for ranking in rankings for each in ranking})
    assert sorted(reciprocal_rank_fusion(rankings)) == everything
    assert sorted(score_fusion(rankings)) == everything


def test_ranks_are_fused_by_their_reciprocals() -> None:
    assert reciprocal_rank_fusion([{"a": 0.9, "b": 0.8}, {"b": 7.0, "c": 6.0}]) == ["b", "a", "c"]
    assert reciprocal_rank_fusion([{"a": 0.9}, {"b": 7.0}]) == ["a", "b"]


def test_scores_are_fused_as_shares_of_the_highest() -> None:
    assert score_fusion([{"a": 0.8, "b": 0.7}, {"b": 20.0, "a": 19.0}]) == ["a", "b"]
    assert score_fusion([{"a": 0.8, "b": 0.7}, {"b": 20.0, "a": 5.0}]) == ["b", "a"]
    assert score_fusion([{"a": 0.5}, {}]) == ["a"]


QUESTION = Question("How long is the bridge?", [1.0])


def test_nearness_weighs_the_meaning_and_the_shared_words() -> None:
    assert nearness(QUESTION, "The bridge is long.", 1.0) == pytest.approx(1.0)
    assert nearness(QUESTION, "The bridge.", 0.6) == pytest.approx(2 / 3 * 0.6 + 1 / 3 * 0.5)
    assert nearness(QUESTION, "Nothing.", 0.0) == 0


def test_what_says_nothing_does_not_count_in_nearness() -> None:
    unread = Question("How long is the bridge?", [1.0], read=False)
    assert nearness(unread, "The bridge.", 0.99) == pytest.approx(0.5)
    assert nearness(QUESTION, "The bridge.", None) == pytest.approx(0.5)
    assert nearness(Question("What is it?", [1.0], read=False), "The bridge.", 0.7) == 0
    assert nearness(Question("What is it?", [1.0]), "The bridge.", 0.7) == pytest.approx(0.7)


def test_copies_are_left_out_and_the_first_stays() -> None:
    long = "The bridge over the river was built by hand in the spring of 1932 and painted grey twice since then. "
    first, shouted = Text(long * 2), Text(long.upper() * 2 + "!")
    nearly, other = Text(long * 2 + "Again."), Text("Employees get 25 days of holiday a year.")
    assert without_copies([first, shouted, nearly, other]) == [first, other]
    assert without_copies([Text("?"), Text("!")]) == [Text("?")]
    assert without_copies([]) == []


def test_short_texts_that_differ_in_one_word_are_no_copies() -> None:
    texts = [Text("Room 7 is on floor 2."), Text("Room 8 is on floor 3.")]
    assert without_copies(texts) == texts


@given(st.lists(st.text(), max_size=6), st.integers(0, 8), st.floats(0, 1))
def test_variety_chooses_among_the_passages(words: list[str], count: int, weight: float) -> None:
    passages = [Text(word) for word in words]
    chosen = most_varied(passages, count, weight)
    assert len(chosen) == min(count, len(passages))
    assert all(passage in passages for passage in chosen)
    if weight == 0:
        assert chosen == passages[:count]
