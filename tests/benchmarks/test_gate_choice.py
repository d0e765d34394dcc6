"""What the gate chooses from measured rows."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.gate_choice import REFERENCE, Bound, Choice, Row, choose, passes
from generator.conditioning import Conditioning

OFF, NEUTRAL = Conditioning.OFF, Conditioning.NEUTRAL
FLOOR = Row("exact", OFF, kl_mean=0.001, identical=0.95, effective_recompute=1)
HKVD = Row(REFERENCE, OFF, kl_mean=0.041, identical=0.5, effective_recompute=0.2)
BOUND = Bound()


def row(policy: str, kl: float, identical: float = 0.95, cost: float = 0.1, conditioning: Conditioning = OFF) -> Row:
    return Row(policy, conditioning, kl, identical, cost)


def chosen(*rows: Row) -> Choice:
    return choose(rows, FLOOR, HKVD, BOUND)


def test_a_quarter_of_the_references_excess_passes_and_no_more() -> None:
    assert passes(row("none", 0.011), FLOOR, HKVD, BOUND)
    assert not passes(row("none", 0.0112), FLOOR, HKVD, BOUND)


def test_ten_points_fewer_identical_answers_pass_and_no_fewer() -> None:
    assert passes(row("none", 0.001, identical=0.86), FLOOR, HKVD, BOUND)
    assert not passes(row("none", 0.001, identical=0.84), FLOOR, HKVD, BOUND)


def test_an_excess_within_the_noise_passes_even_where_the_reference_has_none() -> None:
    perfect = replace(HKVD, kl_mean=FLOOR.kl_mean)
    assert passes(row("none", 0.0019), FLOOR, perfect, BOUND)
    assert not passes(row("none", 0.0021), FLOOR, perfect, BOUND)


def test_the_smallest_amount_that_passes_is_the_floor() -> None:
    found = chosen(row("impact@.02", 0.05, cost=0.03), row("impact@.08", 0.009, cost=0.09), row("impact@.15", 0.004))
    assert (found.row.policy, found.floor, found.within_bound) == ("impact@.08", 0.08, True)


def test_an_amount_that_passes_by_luck_below_one_that_fails_does_not_count() -> None:
    found = chosen(row("impact@.02", 0.009, cost=0.03), row("impact@.08", 0.02, cost=0.09), row("impact@.15", 0.004))
    assert found.row.policy == "impact@.15"


def test_among_policies_the_least_effective_recompute_wins() -> None:
    found = chosen(
        row("impact@.15", 0.004, cost=0.17),
        row("impact@.08", 0.009, cost=0.09, conditioning=NEUTRAL),
        row("hkvd@.15", 0.009, cost=0.2, conditioning=NEUTRAL),
    )
    assert (found.row.policy, found.row.conditioning) == ("impact@.08", NEUTRAL)


def test_policies_without_a_share_leave_the_budget_no_floor() -> None:
    assert chosen(row("none", 0.001, cost=0)).floor == 0
    assert chosen(row("head@16", 0.001, cost=0.03)).floor == 0


def test_where_nothing_passes_the_nearest_is_taken_and_it_says_so() -> None:
    found = chosen(row("none", 0.5), row("impact@.15", 0.1), row("impact@.30", 0.2))
    assert found == Choice(row("impact@.15", 0.1), 0.15, within_bound=False)


ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from(["none", "head@16", "impact@.05", "impact@.15", "hkvd@.15", "alone:impact@.05"]),
        st.floats(0, 0.1),
        st.floats(0, 1),
        st.floats(0, 1),
        st.sampled_from([OFF, NEUTRAL]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda each: (each.policy, each.conditioning),
)


@given(ROWS)
def test_the_choice_is_one_of_the_rows_and_says_truly_whether_it_passes(rows: list[Row]) -> None:
    found = chosen(*rows)
    assert found.row in rows
    assert found.within_bound <= passes(found.row, FLOOR, HKVD, BOUND)
    assert 0 <= found.floor <= 1


@given(ROWS, st.randoms())
def test_the_order_of_the_rows_does_not_matter(rows: list[Row], random: Random) -> None:
    shuffled = random.sample(rows, len(rows))
    one, other = chosen(*rows), chosen(*shuffled)
    assert one.within_bound == other.within_bound
    assert one.row.kl_mean == other.row.kl_mean or one.row.effective_recompute == other.row.effective_recompute


@given(ROWS, st.floats(0.01, 2))
def test_a_wider_bound_never_costs_more(rows: list[Row], share: float) -> None:
    strict = choose(rows, FLOOR, HKVD, Bound(kl_share=share))
    wide = choose(rows, FLOOR, HKVD, Bound(kl_share=share * 2))
    if strict.within_bound:
        assert wide.within_bound
        assert wide.row.effective_recompute <= strict.row.effective_recompute or wide.row == strict.row


def test_a_bound_is_a_promise_about_the_reference_not_about_a_number() -> None:
    worse = replace(HKVD, kl_mean=HKVD.kl_mean * 10)
    assert choose([row("none", 0.09)], FLOOR, worse, BOUND).within_bound
    assert not choose([row("none", 0.09)], FLOOR, HKVD, BOUND).within_bound


@pytest.mark.parametrize("amount", ["impact@.08", "hkvd@.08", "alone:impact@.08"])
def test_amounts_are_read_from_the_policy_as_written(amount: str) -> None:
    assert chosen(row(amount, 0.002)).floor == 0.08
