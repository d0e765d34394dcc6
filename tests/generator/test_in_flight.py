"""Several calls under way at once, and what becomes of them when whoever started them goes."""

from threading import Event

import pytest

from generator.in_flight import Abandoned, InFlight


def test_calls_run_side_by_side_and_land_with_their_results() -> None:
    met = Event()
    with InFlight[str, str](2) as calls:
        calls.start("waits", lambda: "met" if met.wait(30) else "alone")
        calls.start("comes", lambda: met.set() or "came")
        assert calls.full
        assert dict([calls.landed(), calls.landed()]) == {"waits": "met", "comes": "came"}
        assert len(calls) == 0


def test_what_a_call_raises_lands_and_loses_no_other() -> None:
    def fails() -> int:
        raise ZeroDivisionError

    with InFlight[str, int](2) as calls:
        calls.start("bad", fails)
        calls.start("good", lambda: 7)
        landed = dict([calls.landed(), calls.landed()])
    assert isinstance(landed["bad"], ZeroDivisionError)
    assert landed["good"] == 7


def test_two_calls_of_one_name_are_never_under_way() -> None:
    release = Event()
    with InFlight[str, bool](2) as calls:
        calls.start("a", lambda: release.wait(30))
        with pytest.raises(ValueError, match="under way"):
            calls.start("a", lambda: True)
        release.set()
        calls.landed()
        calls.start("a", lambda: True)
        assert calls.landed() == ("a", True)


def test_who_leaves_early_leaves_calls_that_may_write_nothing_more() -> None:
    """And does not wait for one that hangs."""
    hangs, ended = Event(), Event()
    problems: list[BaseException] = []
    calls = InFlight[str, None](1)

    def call() -> None:
        hangs.wait(60)
        try:
            calls.check()
        except Abandoned as error:
            problems.append(error)
        ended.set()

    def left_early() -> None:
        with calls:
            calls.start("a", call)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        left_early()
    assert not ended.is_set()
    hangs.set()
    assert ended.wait(30)
    assert len(problems) == 1
