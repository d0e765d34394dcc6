"""What the gate chooses from measured rows."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.gate_choice import Bound, Choice, Gate, Kept, Row
from generator.conditioning import Conditioning

OFF, NEUTRAL = Conditioning.OFF, Conditioning.NEUTRAL
FLOOR = Kept(kl_mean=0.001, identical=0.95)
HKVD = Kept(kl_mean=0.041, identical=0.5)
GATE = Gate((FLOOR,), (HKVD,), Bound())


def row(policy: str, kl: float, identical: float = 0.95, cost: float = 0.1, conditioning: Conditioning = OFF) -> Row:
    return Row(policy, conditioning, cost, (Kept(kl, identical),))


def chosen(*rows: Row) -> Choice:
    return GATE.choose(rows)


def test_half_of_the_references_excess_passes_and_no_more() -> None:
    assert GATE.passes(row("none", 0.021))
    assert not GATE.passes(row("none", 0.0212))


def test_ten_points_fewer_identical_answers_pass_and_no_fewer() -> None:
    assert GATE.passes(row("none", 0.001, identical=0.86))
    assert not GATE.passes(row("none", 0.001, identical=0.84))


def test_an_excess_within_the_noise_passes_even_where_the_reference_has_none() -> None:
    perfect = Gate((FLOOR,), (FLOOR,), Bound())
    assert perfect.passes(row("none", 0.0019))
    assert not perfect.passes(row("none", 0.0021))


def test_the_bound_is_a_share_of_the_references_error_not_a_number() -> None:
    worse = Gate((FLOOR,), (Kept(0.41, 0.1),), Bound())
    assert worse.passes(row("none", 0.09))
    assert not GATE.passes(row("none", 0.09))


def test_the_bound_must_hold_on_every_set() -> None:
    two = Gate((FLOOR, FLOOR), (HKVD, HKVD), Bound())
    well, badly = Kept(0.002, 0.95), Kept(0.2, 0.95)
    assert two.passes(Row("none", OFF, 0, (well, well)))
    assert not two.passes(Row("none", OFF, 0, (well, badly)))
    assert not two.passes(Row("none", OFF, 0, (badly, well)))


def test_where_nothing_passes_the_nearest_is_one_that_is_cheap_enough_if_any_is() -> None:
    cheap, near, far = row("impact@.08", 0.03, cost=0.1), row("impact@.3", 0.022, cost=0.3), row("none", 0.4, cost=0.0)
    assert (chosen(near, cheap, far).row, chosen(near, cheap, far).within_bound) == (cheap, False)
    assert chosen(near, row("impact@.2", 0.03, cost=0.2)).row == near


def test_the_smallest_amount_that_passes_is_the_floor() -> None:
    found = chosen(row("impact@.02", 0.05, cost=0.03), row("impact@.08", 0.009, cost=0.09), row("impact@.15", 0.004))
    assert (found.row.policy, found.floor, found.within_bound) == ("impact@.08", 0.08, True)


def test_an_amount_that_passes_by_luck_below_one_that_fails_does_not_count() -> None:
    found = chosen(row("impact@.02", 0.009, cost=0.03), row("impact@.08", 0.03, cost=0.09), row("impact@.15", 0.004))
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


@pytest.mark.parametrize("policy", ["impact@.08", "hkvd@.08", "alone:impact@.08"])
def test_the_floor_is_the_share_as_written(policy: str) -> None:
    assert chosen(row(policy, 0.002)).floor == 0.08


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
    assert found.within_bound <= GATE.passes(found.row)
    assert 0 <= found.floor <= 1


@given(ROWS, st.randoms())
def test_the_order_of_the_rows_does_not_matter(rows: list[Row], random: Random) -> None:
    one, other = chosen(*rows), chosen(*random.sample(rows, len(rows)))
    assert one.within_bound == other.within_bound
    assert one.row.sets[0].kl_mean == other.row.sets[0].kl_mean


@given(ROWS, st.floats(0.01, 2))
def test_where_something_passes_a_strict_bound_something_passes_a_wider_one(rows: list[Row], share: float) -> None:
    strict = Gate((FLOOR,), (HKVD,), Bound(kl_share=share)).choose(rows)
    wide = Gate((FLOOR,), (HKVD,), Bound(kl_share=share * 2)).choose(rows)
    assert wide.within_bound >= strict.within_bound
