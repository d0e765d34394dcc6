"""Means with bootstrapped intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.interval import Interval, interval_of, mean_of, median_of

VALUES = st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30)


@given(VALUES)
def test_the_mean_lies_in_its_interval_and_the_interval_in_the_values(values: list[float]) -> None:
    found = mean_of(values)
    assert found.value == pytest.approx(sum(values) / len(values))
    assert found.low is not None
    assert found.high is not None
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found.n == len(values)


@given(VALUES)
def test_the_same_values_give_the_same_interval(values: list[float]) -> None:
    assert mean_of(values) == mean_of(values)


def test_more_questions_narrow_it() -> None:
    few, many = mean_of([0, 1] * 5), mean_of([0, 1] * 200)
    assert few.high is not None
    assert few.low is not None
    assert many.high is not None
    assert many.low is not None
    assert many.high - many.low < (few.high - few.low) / 3
    assert 0.4 < many.low < 0.5 < many.high < 0.6


def test_nothing_measured_is_no_number() -> None:
    assert mean_of([]) == Interval(None, None, None, 0)


def test_a_quotient_of_means_that_divides_by_nothing_is_no_number() -> None:
    rows = [(0.5, 0.0), (0.7, 0.0)]
    found = interval_of(rows, lambda table: table[..., 0].mean(-1) / table[..., 1].mean(-1))
    assert found == Interval(None, None, None, 2)


def test_a_quotient_of_means_is_not_a_mean_of_quotients() -> None:
    rows = [(1.0, 1.0), (0.0, 3.0)]
    assert interval_of(rows, lambda table: table[..., 0].mean(-1) / table[..., 1].mean(-1)).value == 0.25


def test_a_median_is_not_moved_by_one_slow_question() -> None:
    assert median_of([1, 1, 1, 1, 90]).value == 1
