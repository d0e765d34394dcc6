"""One answer and its readers, in whatever order things happen."""

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.live.answer import LiveAnswer
from app.web.live.message import Message, Verb
from app.web.schemas.ask import DeltaEvent, MetaEvent
from app.web.schemas.problem import Problem

END = Problem(type="", title="", status=503, detail="", code="answer_lost", hint="", instance="")


class Keeper:
    def __init__(self):
        self.starts = 0
        self.told = []

    def begun(self, _answer):
        self.starts += 1

    def happened(self, _answer, number, event):
        self.told.append((number, event))


def answer_of(produce, *, resumable=False, patience=60.0):
    keeper = Keeper()
    asked = SimpleNamespace(request_id="req_1", resumable=resumable)
    return LiveAnswer(asked, produce, keeper, patience, streamed=True), keeper


async def step():
    for _ in range(5):
        await asyncio.sleep(0)


def paced(texts, ending, gate):
    """Meta, then a text for each permit, then the ending: an error raised, or an event."""

    async def produce(stop):
        yield MetaEvent(request_id="req_1", model="m", policy="p")
        for text in texts:
            permit = asyncio.ensure_future(gate.acquire())
            stopped = asyncio.ensure_future(stop.wait())
            await asyncio.wait((permit, stopped), return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if stop.is_set():
                permit.cancel()
                break
            yield DeltaEvent(text=text)
        if isinstance(ending, Exception):
            raise ending
        yield ending

    return produce


@given(
    st.lists(st.text(max_size=3), max_size=8),
    st.sampled_from([END, RuntimeError("broken"), TimeoutError()]),
    st.lists(st.tuples(st.sampled_from(["step", "join", "stop"]), st.integers(0, 9)), max_size=12),
)
def test_every_reader_that_stays_gets_each_event_once_in_order_and_one_end(texts, ending, moves):
    async def scenario():
        gate = asyncio.Semaphore(0)
        answer, keeper = answer_of(paced(texts, ending, gate), resumable=True)
        readers = []

        async def read(after):
            return [item async for item in answer.follow(after)]

        readers.append((0, asyncio.create_task(read(0))))
        await step()
        for move, number in moves:
            if move == "step":
                gate.release()
            elif move == "stop":
                answer.stop()
            else:
                after = min(number, len(answer.log))
                readers.append((after, asyncio.create_task(read(number))))
            await step()
        for _ in texts:
            gate.release()
        first = await readers[0][1]
        assert keeper.starts == 1
        assert [item.number for item in first] == list(range(1, len(first) + 1))
        assert [(item.number, item.event) for item in first] == keeper.told
        ends = [isinstance(item.event, Problem) for item in first]
        assert ends == [False] * (len(ends) - 1) + [True]
        for after, reader in readers:
            assert await reader == first[after:]

    asyncio.run(scenario())


async def test_nothing_is_made_before_somebody_follows():
    answer, keeper = answer_of(paced([], END, asyncio.Semaphore(0)))
    await step()
    assert (keeper.starts, len(answer.log)) == (0, 0)


async def test_the_last_reader_that_leaves_stops_it():
    answer, keeper = answer_of(paced(["a", "b"], END, asyncio.Semaphore(0)))
    one, two = answer.follow(), answer.follow()
    await anext(one)
    await anext(two)
    await one.aclose()
    await step()
    assert not answer.log.ended
    await two.aclose()
    await step()
    assert answer.log.ended
    assert len(keeper.told) == 2


async def test_a_resumable_answer_that_was_left_waits_and_longer_when_a_reader_elsewhere_is_heard_of():
    answer, _ = answer_of(paced(["a"], END, asyncio.Semaphore(0)), resumable=True)
    reader = answer.follow()
    await anext(reader)
    assert answer._leaving is None
    await reader.aclose()
    first = answer._leaving.when()
    answer.touch()
    assert answer._leaving.when() > first
    assert not answer.log.ended
    other = answer.follow()
    await anext(other)
    answer.touch()
    assert answer._leaving is None, "somebody is reading it here"
    await answer.cancel()
    await other.aclose()


async def test_a_resumable_answer_that_nobody_comes_back_to_is_stopped():
    answer, _ = answer_of(paced(["a"], END, asyncio.Semaphore(0)), resumable=True, patience=0.01)
    reader = answer.follow()
    await anext(reader)
    await reader.aclose()
    assert [item.event async for item in answer.log.follow()][-1] is END


async def test_cancelling_ends_it_with_an_error():
    answer, keeper = answer_of(paced(["a"], END, asyncio.Semaphore(0)))
    reader = answer.follow()
    await anext(reader)
    await answer.cancel()
    rest = [item async for item in reader]
    assert [item.event.code for item in rest] == ["service_stopping"]
    assert len(keeper.told) == 2


async def test_a_reader_is_told_now_and_then_that_nothing_comes(monkeypatch):
    monkeypatch.setattr("app.web.live.log.IDLE_SECONDS", 0.01)
    answer, _ = answer_of(paced(["a"], END, asyncio.Semaphore(0)))
    reader = answer.follow()
    await anext(reader)
    assert await anext(reader) is None
    assert await anext(reader) is None
    await reader.aclose()


@pytest.mark.parametrize("verb", list(Verb))
def test_a_message_is_read_as_it_was_written(verb):
    assert Message.parse(str(Message(verb, "req_1"))) == Message(verb, "req_1")


@pytest.mark.parametrize("text", ["", "stop", "STOP req_1", "start req_1"])
def test_what_is_no_message_is_none_or_names_nobody(text):
    message = Message.parse(text)
    assert message is None or message.request_id == ""
