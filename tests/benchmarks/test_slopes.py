"""How time grows with the context."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.slopes import relative_slopes, slope


@given(st.floats(0, 1), st.floats(-5, 5), st.lists(st.integers(1, 8192), min_size=2, max_size=6, unique=True))
def test_a_line_gives_back_its_slope(rise: float, offset: float, tokens: list[int]) -> None:
    assert slope(tokens, [offset + rise * each for each in tokens]) == pytest.approx(rise, abs=1e-6)


def test_one_length_has_no_slope() -> None:
    assert slope([1024], [1.0]) is None
    assert slope([1024, 1024], [1.0, 2.0]) is None


def test_slopes_are_compared_with_exacts() -> None:
    assert relative_slopes({"exact": 0.002, "none": 0.0005, "odd": None}, "exact") == {
        "exact": 1, "none": 0.25, "odd": None,
    }  # fmt: skip


def test_nothing_is_compared_with_an_exact_run_that_does_not_grow() -> None:
    assert relative_slopes({"exact": 0.0, "none": 0.1}, "exact") == {"exact": None, "none": None}
    assert relative_slopes({"exact": None, "none": 0.1}, "exact") == {"exact": None, "none": None}
