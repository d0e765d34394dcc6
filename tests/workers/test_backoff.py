from hypothesis import given
from hypothesis import strategies as st

from workers.backoff import LONGEST_SECONDS, pause_after


def test_the_pause_doubles_and_has_an_end():
    assert [pause_after(n, 10, lambda: 1.0) for n in (1, 2, 3, 4)] == [10, 20, 40, 80]
    assert pause_after(100, 10, lambda: 1.0) == pause_after(10**6, 10, lambda: 1.0) == LONGEST_SECONDS


@given(attempts=st.integers(1, 200), first=st.floats(0.01, 60), chance=st.floats(0, 1, exclude_max=True))
def test_chance_takes_away_half_at_most(attempts, first, chance):
    whole = pause_after(attempts, first, lambda: 1.0)
    assert whole / 2 <= pause_after(attempts, first, lambda: chance) <= whole


def test_documents_that_failed_together_do_not_come_back_together():
    assert len({pause_after(3, 10) for _ in range(50)}) > 40
