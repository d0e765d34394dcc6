"""Places for answers: never more at once than there are, and nobody loses or keeps one that is not theirs."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from app.core.settings import Settings
from app.web.admission import Admission, Overloaded, Refusal, retry_after_seconds
from app.web.live.errors import ServiceStopping


def admission(at_once=1, waiting=2, waiting_seconds=600.0, **more):
    settings = Settings(
        _env_file=None, answers_at_once=at_once, answers_waiting=waiting, waiting_seconds=waiting_seconds
    )
    return Admission(settings, **more)


class Question:
    """One that is answered until `done` is set; its outcome is an error or None."""

    def __init__(self, places, party="a"):
        self.party, self.done, self.begun = party, asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(self._ask(places))

    async def _ask(self, places):
        async with places.place(self.party):
            self.begun.set()
            await self.done.wait()

    async def end(self):
        self.done.set()
        await self.task


async def asked(places, *parties):
    """So many questions, in this order, as far as they get by themselves."""
    questions = []
    for party in parties:
        questions.append(Question(places, party))
        await settled()
    return questions


async def settled():
    for _ in range(10):
        await asyncio.sleep(0)


async def test_more_than_there_are_places_wait_and_each_goes_on_when_one_ends():
    places = admission(at_once=2)
    first, second, third = await asked(places, "a", "a", "a")
    assert (places.running, places.waiting) == (2, 1)
    assert not third.begun.is_set()
    await first.end()
    await settled()
    assert third.begun.is_set()
    assert (places.running, places.waiting) == (2, 0)
    await second.end()
    await third.end()
    assert (places.running, places.waiting, places.refused) == (0, 0, {})


async def test_what_does_not_fit_the_line_is_sent_away_at_once_and_told_when_to_return():
    places = admission(at_once=1, waiting=1)
    questions = await asked(places, "a", "b", "c")
    with pytest.raises(Overloaded) as refused:
        await questions[2].task
    assert (refused.value.code, refused.value.status) == ("overloaded", 503)
    assert 1 <= refused.value.retry_after_seconds <= 60
    assert places.refused == {Refusal.FULL: 1}
    for question in questions[:2]:
        await question.end()


async def test_what_waits_too_long_is_sent_away_and_keeps_nobody_behind_it():
    places = admission(at_once=1, waiting=5, waiting_seconds=0.01)
    (running,) = await asked(places, "a")
    with pytest.raises(Overloaded, match=r"within 0\.01 s"):
        await Question(places).task
    assert (places.waiting, places.refused) == (0, {Refusal.WAITED: 1})
    await running.end()
    assert places.running == 0


async def test_whoever_leaves_while_waiting_is_out_of_the_line():
    places = admission(at_once=1, waiting=5)
    running, leaving, staying = await asked(places, "a", "a", "a")
    leaving.task.cancel()
    await settled()
    assert places.waiting == 1
    await running.end()
    await settled()
    assert staying.begun.is_set()
    await staying.end()
    assert places.running == 0


async def test_a_place_that_comes_in_the_moment_its_owner_leaves_goes_to_the_next():
    places = admission(at_once=1, waiting=5)
    async with places.place("a"):
        leaving, staying = await asked(places, "a", "a")
    # The place has been given on, and its new owner has not run yet.
    leaving.task.cancel()
    await settled()
    assert not leaving.begun.is_set()
    assert staying.begun.is_set()
    await staying.end()
    assert (places.running, places.waiting) == (0, 0)


async def test_a_question_that_fails_gives_its_place_back():
    places = admission(at_once=1)
    with pytest.raises(KeyError):
        async with places.place("a"):
            raise KeyError
    assert places.running == 0


async def test_one_partys_flood_does_not_keep_another_out_or_waiting():
    places = admission(at_once=1, waiting=4)
    flood = await asked(places, *"aaaaa")
    (late,) = await asked(places, "b")
    with pytest.raises(Overloaded):
        await flood[4].task  # the last to come has had to go
    assert places.waiting == 4
    await flood[0].end()
    await settled()
    await flood[1].end()
    await settled()
    assert late.begun.is_set(), "the other party has had its turn after one of the flood"
    assert not flood[2].begun.is_set()
    for question in (late, flood[2], flood[3]):
        await question.end()
    assert places.running == 0


async def test_once_it_stops_nobody_gets_a_place_and_those_in_line_are_sent_away():
    places = admission(at_once=1, waiting=5)
    running, waiting = await asked(places, "a", "b")
    places.stop()
    for question in (waiting, Question(places)):
        with pytest.raises(ServiceStopping):
            await question.task
    assert (places.stopping, places.running, places.waiting) == (True, 1, 0)
    assert places.refused == {Refusal.STOPPING: 2}
    await running.end()
    assert places.running == 0


async def test_after_a_thousand_questions_that_come_leave_and_fail_every_place_is_free():
    places = admission(at_once=3, waiting=10)

    async def one(number):
        async with AsyncExitStack() as held:
            await held.enter_async_context(places.place("abcde"[number % 5]))
            assert places.running <= 3
            await asyncio.sleep(0)
            if number % 7 == 0:
                raise KeyError

    tasks = []
    for number in range(1000):
        tasks.append(asyncio.create_task(one(number)))
        if number % 4 == 0:
            await asyncio.sleep(0)
        if number % 11 == 0:
            tasks[number // 2].cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {type(None), KeyError, Overloaded, asyncio.CancelledError}
    assert (places.running, places.waiting) == (0, 0)
    assert sum(isinstance(outcome, Overloaded) for outcome in outcomes) == places.refused[Refusal.FULL]


@pytest.mark.parametrize(
    ("ended", "ahead", "seconds"),
    [
        ([], 5, 10),
        ([0.0], 5, 10),
        ([100.0], 1, 10),
        ([99.0] * 10, 3, 3),
        ([99.0] * 100, 3, 1),
        ([99.0], 64, 60),
    ],
    ids=["none yet", "none lately", "one in ten seconds", "one a second", "ten a second", "never more than a minute"],
)
def test_when_to_return_follows_from_how_many_ended_lately(ended, ahead, seconds):
    assert retry_after_seconds(ended, 100.0, ahead) == seconds
