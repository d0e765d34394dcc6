from hypothesis import given
from hypothesis import strategies as st

from benchmarks.beside import gap_figures


def test_gaps_are_told_by_their_middle_and_their_longest() -> None:
    figures = gap_figures([0.1] * 38 + [2.0, 4.0])
    assert figures == {"p50_s": 0.1, "longest_s": 3.0, "max_s": 4.0, "n": 40}


@given(st.lists(st.floats(0, 1e3), min_size=1))
def test_the_longest_are_no_shorter_than_the_middle(gaps: list[float]) -> None:
    figures = gap_figures(gaps)
    assert figures["p50_s"] <= figures["longest_s"] * (1 + 1e-9)
    assert figures["longest_s"] <= figures["max_s"] * (1 + 1e-9)
