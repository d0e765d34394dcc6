# ruff: noqa: RUF001  (full-width letters are meant)

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sparse import SparseVector, chunk_vector, question_vector
from retrieval.words import search_terms


def product(question: str, text: str) -> float:
    weights = dict(zip(*chunk_vector(text), strict=True))
    return sum(value * weights.get(index, 0.0) for index, value in zip(*question_vector(question), strict=True))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The BRIDGES were painted", ["bridg", "paint"]),
        ("Pump XQ-17, 3.5 bar, max_tokens", ["pump", "xq", "17", "3.5", "bar", "max", "token"]),
        ("ＡＢＣ Straße", ["abc", "strasse"]),
        ("橋が長い", ["橋", "長", "橋が", "が長", "長い"]),
        ("สะพาน", ["สะ", "ะพ", "พา", "าน"]),
        ("ｶﾀｶﾅ", ["カタ", "タカ", "カナ"]),
        ("橋", ["橋"]),
        ("the of ?!", []),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert search_terms(text) == terms


def test_a_word_counts_more_the_more_often_it_is_there_but_less_each_time() -> None:
    once, twice, often = (product("bridge", f"{'bridge ' * count}{'river ' * (40 - count)}") for count in (1, 2, 20))
    assert once < twice < often
    assert twice - once > (often - twice) / 18
    assert often < 2.5


def test_a_word_counts_more_in_a_shorter_text() -> None:
    assert product("bridge", "A bridge.") > product("bridge", f"A bridge. {'Another river. ' * 100}")


def test_a_question_counts_a_word_as_often_as_it_says_it() -> None:
    assert product("bridge bridge", "A bridge.") == 2 * product("bridge", "A bridge.")


def test_texts_without_a_term_in_common_have_nothing_in_common() -> None:
    assert product("holiday", "A bridge.") == 0
    assert chunk_vector("") == SparseVector([], [])


def test_another_process_numbers_terms_alike() -> None:
    code = "from retrieval.sparse import chunk_vector; print(chunk_vector('The bridge: 橋が長い'))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(chunk_vector("The bridge: 橋が長い"))


@given(st.text())
def test_any_text_has_a_vector_that_an_index_takes(text: str) -> None:
    indices, values = chunk_vector(text)
    assert indices == sorted(set(indices))
    assert all(0 <= index < 2**32 for index in indices)
    assert all(value > 0 for value in values)
