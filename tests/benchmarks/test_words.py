"""Answers are compared by their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.words import exact_match, f1, holds, words

TEXT = st.text(max_size=40)


def test_case_punctuation_and_articles_do_not_count() -> None:
    assert words("The  Cat, a dog; AN owl!") == ["cat", "dog", "owl"]
    assert exact_match("the Exeter College.", ["Oxford", "exeter college"]) == 1
    assert words("theatre anthem") == ["theatre", "anthem"]


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    assert f1("in Exeter College", ["Exeter College"]) == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))
    assert f1("red red red", ["red"]) == pytest.approx(0.5)


def test_the_best_gold_counts() -> None:
    assert f1("blue", ["red", "blue", "blue whale"]) == 1


def test_an_empty_answer_is_right_only_where_an_empty_one_is_wanted() -> None:
    assert f1("", ["x"]) == 0
    assert f1("the", ["a"]) == 1


def test_an_answer_is_held_by_a_sentence_that_says_its_words_in_order() -> None:
    assert holds("He went to Exeter College, then to London.", ["exeter college"])
    assert not holds("College of Exeter", ["Exeter College"])
    assert not holds("Excalibur", ["cal"])
    assert not holds("anything", ["the", ""])


@given(TEXT, TEXT)
def test_f1_is_symmetric_and_a_share(one: str, other: str) -> None:
    assert f1(one, [other]) == pytest.approx(f1(other, [one]))
    assert 0 <= f1(one, [other]) <= 1


@given(TEXT)
def test_an_answer_is_wholly_like_itself(text: str) -> None:
    assert f1(text, [text]) == exact_match(text, [text]) == 1


@given(TEXT, TEXT)
def test_an_exact_match_has_an_f1_of_one(one: str, other: str) -> None:
    if exact_match(one, [other]):
        assert f1(one, [other]) == 1


@given(TEXT)
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert words(" ".join(words(text))) == words(text)
