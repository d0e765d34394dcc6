"""Throughput is what was seen lately, weighed by time."""

import pytest

from generator.throughput import Throughput


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_before_anything_was_seen_nothing_is_known(clock: Clock) -> None:
    assert Throughput(clock).bytes_per_second is None


def test_it_is_all_bytes_over_all_seconds(clock: Clock) -> None:
    seen = Throughput(clock)
    seen.observe(1000, 1.0)
    seen.observe(1000, 3.0)
    assert seen.bytes_per_second == 500


def test_what_is_older_counts_for_less_and_the_new_wins(clock: Clock) -> None:
    seen = Throughput(clock)
    seen.observe(1000, 1.0)
    clock.now += 5
    seen.observe(100, 1.0)
    assert seen.bytes_per_second == pytest.approx((500 + 100) / 1.5)
    for _ in range(20):
        clock.now += 5
        seen.observe(100, 1.0)
    assert seen.bytes_per_second == pytest.approx(100, rel=1e-3)


def test_a_speed_that_was_last_seen_long_ago_is_forgotten_and_then_learned_anew(clock: Clock) -> None:
    seen = Throughput(clock)
    seen.observe(1000, 100.0)
    clock.now += 59
    assert seen.bytes_per_second == 10
    clock.now += 2
    assert seen.bytes_per_second is None
    seen.observe(1000, 1.0)
    assert seen.bytes_per_second == pytest.approx(1000, rel=0.05)
