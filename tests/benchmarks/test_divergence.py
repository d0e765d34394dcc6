"""KL divergence of whole distributions, and agreement of greedy runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from benchmarks.divergence import agreement, kl

LOGITS = arrays(np.float32, (3, 7), elements=st.floats(-30, 30, width=32))
TOKENS = st.lists(st.integers(0, 3), max_size=8)


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    wide = logits.astype(np.float64)
    wide = wide - wide.max(-1, keepdims=True)
    return (wide - np.log(np.exp(wide).sum(-1, keepdims=True))).astype(np.float32)


def test_a_known_pair() -> None:
    exact = np.log(np.array([[0.5, 0.5]], dtype=np.float32))
    other = np.log(np.array([[0.9, 0.1]], dtype=np.float32))
    assert kl(exact, other) == pytest.approx([0.5 * np.log(0.5 / 0.9) + 0.5 * np.log(0.5 / 0.1)], rel=1e-5)


def test_what_exact_rules_out_costs_nothing_and_what_only_the_other_rules_out_costs_everything() -> None:
    certain = np.log(np.array([[1.0, 1e-45]], dtype=np.float32))
    certain[0, 1] = -np.inf
    even = np.log(np.array([[0.5, 0.5]], dtype=np.float32))
    assert kl(certain, even) == pytest.approx([np.log(2)])
    assert kl(even, certain) == [np.inf]


@given(LOGITS, LOGITS)
def test_it_is_never_negative_and_one_number_a_step(one: NDArray[np.float32], other: NDArray[np.float32]) -> None:
    found = kl(log_softmax(one), log_softmax(other))
    assert found.shape == (3,)
    assert (found >= 0).all()


@given(LOGITS)
def test_a_distribution_is_not_far_from_itself(logits: NDArray[np.float32]) -> None:
    assert (kl(log_softmax(logits), log_softmax(logits)) == 0).all()


def test_tokens_that_only_one_run_said_count_as_different() -> None:
    assert agreement([1, 2, 3, 4], [1, 2, 9]) == 0.5
    assert agreement([1], [1, 2, 3, 4]) == 0.25


@given(TOKENS, TOKENS)
def test_agreement_is_a_symmetric_share(one: list[int], other: list[int]) -> None:
    assert agreement(one, other) == agreement(other, one)
    assert 0 <= agreement(one, other) <= 1


@given(TOKENS)
def test_a_run_agrees_with_itself(tokens: list[int]) -> None:
    assert agreement(tokens, tokens) == 1
