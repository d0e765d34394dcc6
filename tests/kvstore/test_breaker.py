"""A far side that is silent costs one time-out, and is found again by one caller."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, Event

import pytest
from waiting import wait_until

from kvstore.breaker import Breaker
from kvstore.errors import TierDown


class FarSide:
    """Counts who asks it, behind a breaker with a clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0
        self.raises: BaseException | None = None
        self.breaker = Breaker(
            "It",
            "Look.",
            lambda error: isinstance(error, ConnectionError),
            pause_seconds=5,
            longest_pause_seconds=20,
            clock=lambda: self.now,
        )

    def ask(self) -> None:
        with self.breaker.asking():
            self.asked += 1
            if self.raises is not None:
                raise self.raises

    def is_left_alone(self) -> bool:
        before = self.asked
        with suppress(TierDown, ConnectionError):
            self.ask()
        return self.asked == before


@pytest.fixture
def far() -> FarSide:
    return FarSide()


@pytest.fixture
def silent(far) -> FarSide:
    far.raises = ConnectionError()
    with pytest.raises(ConnectionError):
        far.ask()
    return far


def test_who_answers_is_asked_every_time(far):
    for _ in range(3):
        far.ask()
    assert far.asked == 3


def test_a_silent_far_side_is_left_alone_for_the_pause(silent):
    assert silent.is_left_alone()
    silent.now = 4.9
    assert silent.is_left_alone()
    silent.now = 5
    assert not silent.is_left_alone()


def test_who_may_not_ask_is_told_what_to_look_at(silent):
    with pytest.raises(TierDown, match=r"^It did not answer a moment ago\.$") as caught:
        silent.ask()
    assert caught.value.hint == "Look."


def test_an_answer_ends_the_pauses(silent):
    silent.now, silent.raises = 5, None
    silent.ask()
    silent.ask()
    assert silent.asked == 3


def test_pauses_double_up_to_the_longest_and_begin_anew_after_an_answer(silent):
    for pause in (5, 10, 20, 20):
        silent.now += pause - 0.1
        assert silent.is_left_alone()
        silent.now += 0.1
        assert not silent.is_left_alone()
    silent.now, silent.raises = silent.now + 20, None
    silent.ask()
    silent.raises = ConnectionError()
    assert not silent.is_left_alone()
    silent.now += 5
    assert not silent.is_left_alone()


def test_a_refusal_is_an_answer(silent):
    silent.now, silent.raises = 5, PermissionError()
    for _ in range(3):
        with pytest.raises(PermissionError):
            silent.ask()
    assert silent.asked == 4


def test_a_try_that_was_interrupted_is_made_again(silent):
    silent.now, silent.raises = 5, KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        silent.ask()
    silent.raises = None
    assert not silent.is_left_alone()


def test_after_a_pause_only_one_of_many_threads_tries(silent):
    silent.now, silent.raises = 5, None
    start, others_are_done = Barrier(8), Event()

    def work() -> str:
        start.wait(60)
        try:
            with silent.breaker.asking():
                others_are_done.wait(60)
                return "tried"
        except TierDown:
            return "left it alone"

    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(work) for _ in range(8)]
        try:
            wait_until(lambda: sum(future.done() for future in futures) == 7, "seven threads are refused", 60)
        finally:
            others_are_done.set()
    assert sorted(future.result() for future in futures) == ["left it alone"] * 7 + ["tried"]
    silent.ask()


def test_silence_that_many_threads_hear_at_once_counts_once(far):
    together = Barrier(8)

    def ask() -> None:
        with far.breaker.asking():
            together.wait(60)
            raise ConnectionError

    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(ask) for _ in range(8)]
    assert all(isinstance(future.exception(), ConnectionError) for future in futures)
    assert far.is_left_alone()
    far.now = 5
    assert not far.is_left_alone()
