"""Divergence, agreement and their intervals, against values known by hand."""

import math

import pytest
import torch

from benchmarks.lab.metrics import bootstrap, closeness, kl, paired_bootstrap


def logs(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows).log()


def test_kl_of_two_coins_is_what_the_formula_says() -> None:
    found = kl(logs([0.5, 0.5]), logs([0.9, 0.1]))
    assert float(found) == pytest.approx(0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1), rel=1e-6)


def test_kl_is_from_the_exact_run_and_zero_to_itself() -> None:
    fair, biased = logs([0.5, 0.5]), logs([0.9, 0.1])
    assert float(kl(fair, biased)) != pytest.approx(float(kl(biased, fair)), rel=0.01)
    assert float(kl(biased, biased)) == 0


def test_closeness_counts_first_choices_along_the_forced_tokens() -> None:
    exact = logs([0.6, 0.4], [0.3, 0.7], [0.8, 0.2], [0.9, 0.1])
    variant = logs([0.6, 0.4], [0.6, 0.4], [0.8, 0.2], [0.9, 0.1])
    found = closeness(exact, variant)
    assert found.kl_first == 0
    assert found.agreement == 0.75
    assert found.identical == 0
    assert found.kl_mean == pytest.approx((0.3 * math.log(0.3 / 0.6) + 0.7 * math.log(0.7 / 0.4)) / 4, rel=1e-5)
    assert closeness(exact, exact).identical == 1


def test_an_interval_holds_the_mean_and_is_a_point_for_equal_values() -> None:
    low, high = bootstrap([0.1, 0.4, 0.2, 0.9, 0.3])
    assert low < 0.38 < high
    assert bootstrap([2.0, 2.0]) == (2.0, 2.0)


def test_a_paired_ratio_of_proportional_values_is_certain() -> None:
    theirs = [0.1, 0.7, 0.2]
    low, high = paired_bootstrap([value / 4 for value in theirs], theirs)
    assert low == pytest.approx(0.25)
    assert high == pytest.approx(0.25)
