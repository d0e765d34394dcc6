"""How one answer is judged, and what many verdicts come to."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.verdict import Said, Verdict, verdict
from benchmarks.verdicts import cost, mean, normalised_f1, quality

SHARES = st.floats(0, 1, width=32)
VERDICT = verdict(
    ["red"],
    Said("It is red.", (1, 2, 3), np.log(np.full((3, 4), 0.25, dtype=np.float32))),
    Said("It is blue.", (1, 2, 0), np.log(np.full((3, 4), 0.25, dtype=np.float32))),
    np.log(np.tile(np.array([0.7, 0.1, 0.1, 0.1], dtype=np.float32), (3, 1))),
)


def scored(f1: float | None) -> Verdict:
    return replace(VERDICT, f1=f1)


def test_an_answer_is_judged_by_the_golds_and_by_the_exact_answer() -> None:
    assert (VERDICT.f1, VERDICT.em, VERDICT.wrong) == (0, 0, 1)
    assert VERDICT.f1_vs_exact == pytest.approx(2 / 3)
    assert VERDICT.greedy_agreement == pytest.approx(2 / 3)
    assert VERDICT.identical == 0
    expected = 0.25 * np.log(0.25 / 0.7) + 0.75 * np.log(0.25 / 0.1)
    assert VERDICT.kl_first_token == pytest.approx(expected, rel=1e-5)
    assert VERDICT.kl_mean == pytest.approx(expected, rel=1e-5)


def test_where_nobody_knows_what_is_right_nothing_is_said_about_it() -> None:
    said = Said("x", (1,), np.zeros((1, 1), dtype=np.float32))
    found = verdict([], said, said, said.logprobs)
    assert (found.f1, found.em, found.wrong) == (None, None, None)
    assert (found.identical, found.kl_mean, found.f1_vs_exact) == (1, 0, 1)
    assert quality([found])["f1"] == {"value": None, "low": None, "high": None, "n": 0}


def test_costs_that_were_not_measured_are_no_numbers() -> None:
    assert cost([VERDICT])["ttft"]["value"] is None
    assert cost([replace(VERDICT, ttft_s=2.0, effective_recompute=0.1)])["ttft"]["value"] == 2


def test_a_mean_is_over_the_questions_where_it_is_known() -> None:
    found = mean([scored(None), scored(1.0), scored(0.0)], "f1")
    assert (found.value, found.n) == (0.5, 2)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=10))
def test_plain_reuse_is_at_nothing_and_exact_at_one(pairs: list[tuple[float, float]]) -> None:
    plain, exact = [scored(low) for low, _ in pairs], [scored(high) for _, high in pairs]
    gap = np.mean([high for _, high in pairs]) - np.mean([low for low, _ in pairs])
    if gap:
        assert normalised_f1(plain, plain, exact).value == 0
        assert normalised_f1(exact, plain, exact).value == pytest.approx(1)


def test_between_equals_there_is_no_half_way() -> None:
    same = [scored(0.5), scored(0.25)]
    assert normalised_f1(same, same, same).value is None


def test_half_way_between_plain_reuse_and_exact_is_a_half() -> None:
    found = normalised_f1([scored(0.3)] * 3, [scored(0.2)] * 3, [scored(0.4)] * 3)
    assert found.value == pytest.approx(0.5)
