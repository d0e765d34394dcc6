"""Whose turn a step is: questions go before pre-reading, which is never starved."""

import pytest

from generator.vllm.turns import Turn, Turns


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(clock: Clock) -> Turns:
    return Turns(128, clock)


def step(turns: Turns, *, starting: bool = False, answering: bool = False, wanted: bool = True) -> Turn:
    return turns.next(starting=starting, answering=answering, wanted=wanted)


def test_where_nobody_asks_whole_steps_pre_read(turns: Turns) -> None:
    assert step(turns) == Turn(True, None)


def test_pre_reading_stands_still_until_a_question_has_its_first_token(turns: Turns, clock: Clock) -> None:
    assert step(turns, starting=True) == Turn(False, 128)
    clock.now += 1.9
    assert not step(turns, starting=True).reads
    assert step(turns) == Turn(True, 128)


def test_but_never_for_more_than_two_seconds(turns: Turns, clock: Clock) -> None:
    step(turns, starting=True)
    clock.now += 2.1
    assert step(turns, starting=True) == Turn(True, 128)
    assert not step(turns, starting=True).reads
    clock.now += 2.1
    assert step(turns, starting=True).reads


def test_while_answers_are_written_it_pauses_for_twice_what_its_last_step_took(turns: Turns, clock: Clock) -> None:
    step(turns)
    clock.now += 0.1
    assert not step(turns, answering=True).reads
    clock.now += 0.15
    assert not step(turns, answering=True).reads
    clock.now += 0.1
    assert step(turns, answering=True) == Turn(True, 128)


def test_an_engine_that_was_idle_does_not_count_that_as_a_step(turns: Turns, clock: Clock) -> None:
    step(turns)
    clock.now += 3600
    assert not step(turns, answering=True).reads
    clock.now += 2.1
    assert step(turns, answering=True).reads


def test_steps_are_small_for_a_minute_after_a_question(turns: Turns, clock: Clock) -> None:
    step(turns, starting=True)
    clock.now += 59
    assert step(turns) == Turn(True, 128)
    clock.now += 2
    assert step(turns) == Turn(True, None)


def test_a_question_that_comes_with_the_first_chunk_goes_first(turns: Turns, clock: Clock) -> None:
    """However long nothing has been pre-read."""
    step(turns, starting=True, wanted=False)
    clock.now += 3600
    assert not step(turns, starting=True).reads
