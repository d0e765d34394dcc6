from hypothesis import given
from hypothesis import strategies as st

from generator.budget import Budget

SHARES = st.floats(0, 1)
SECONDS = st.floats(0, 100)


@given(SHARES, SHARES, SECONDS, st.integers(0, 10_000), st.lists(st.tuples(SECONDS, st.integers(0, 5000))))
def test_the_share_is_never_under_the_floor_and_over_the_ceiling_only_for_the_floors_sake(
    floor: float, ceiling: float, load_s: float, tokens: int, seen: list[tuple[float, int]]
) -> None:
    budget = Budget(floor, ceiling)
    for seconds, computed in seen:
        budget.observe(seconds + 1e-9, computed)
    assert floor <= budget.share(load_s, tokens) <= max(floor, ceiling) or not any(count for _, count in seen)


def test_until_something_is_measured_the_ceiling_holds() -> None:
    assert Budget(0.05, 0.15).share(0.0, 1000) == 0.15


def test_recompute_takes_as_long_as_the_load_it_hides_behind() -> None:
    budget = Budget(0.02, 0.5)
    budget.observe(1.0, 1000)
    assert budget.share(0.1, 1000) == 0.1
    assert budget.share(0.001, 1000) == 0.02
    assert budget.share(9.0, 1000) == 0.5


def test_what_a_token_costs_is_learnt_slowly_and_an_empty_recompute_teaches_nothing() -> None:
    budget = Budget(0.0, 1.0)
    budget.observe(1.0, 1000)
    budget.observe(5.0, 0)
    assert budget.share(0.5, 1000) == 0.5
    budget.observe(2.0, 1000)
    assert 0.4 < budget.share(0.5, 1000) < 0.5
