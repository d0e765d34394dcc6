"""Answers that are read again, in the process that makes them."""

import threading

import pytest
from principals import several_users, signed_in
from scripted_engine import piece, usage
from web_harness import wait_until

QUESTION = "What is the travel meal allowance?"


@pytest.fixture
def held(web):
    """An engine that writes three words, waits to be let go, and writes three more."""
    go = threading.Event()
    words = [piece(f"{n} ") for n in range(6)]
    web.engine.script = [*words[:3], lambda: go.wait(20), *words[3:], piece("", "stop"), usage(), "[DONE]"]
    yield web, go
    go.set()
    wait_until(lambda: web.engine.running == 0, "the engine has ended what it wrote")


def read(events, last):
    """The events up to the one with that number."""
    taken = []
    for event in events:
        taken.append(event)
        if event.number == last:
            break
    return taken


def test_events_are_numbered_from_one_without_gaps(web):
    events = web.stream(QUESTION)
    assert [event.number for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("after", range(6))
def test_a_resumed_answer_is_what_was_missed_and_the_rest_and_ends_once(held, after):
    web, go = held
    with web.streaming(QUESTION, resumable=True) as events:
        first = read(events, 5)
    with web.resuming(first[0].data["request_id"], after) as events:
        go.set()
        rest = list(events)
    whole = [*first[:after], *rest]
    assert [event.number for event in whole] == list(range(1, len(whole) + 1))
    assert [event.name for event in whole] == ["meta", "sources", *["delta"] * 6, "done"]
    assert whole[-1].data["answer"] == "0 1 2 3 4 5"
    assert whole[-1].data["status"] == "answered"


def test_several_may_read_one_answer_at_once(held):
    web, go = held
    with web.streaming(QUESTION) as events:
        first = read(events, 5)
        with web.resuming(first[0].data["request_id"]) as others:
            go.set()
            assert [*first, *events] == list(others)


def test_without_resumable_a_closed_connection_ends_the_answer(held):
    web, _ = held
    with web.streaming(QUESTION) as events:
        read(events, 5)
    wait_until(lambda: web.live == 0, "the answer has ended", seconds=5)


def test_a_resumable_answer_that_nobody_comes_back_to_is_ended_in_the_end(held, monkeypatch):
    web, _ = held
    live = web.server.config.app.state.answering.live
    monkeypatch.setattr(live, "_patience_seconds", 0.3)
    with web.streaming(QUESTION, resumable=True, conversation_id="new") as events:
        conversation_id = read(events, 5)[0].data["conversation_id"]
    wait_until(lambda: web.live == 0, "the answer has ended", seconds=10)
    (turn,) = web.client.get(f"/conversations/{conversation_id}").json()["items"]
    assert (turn["status"], turn["answer"]) == ("stopped", "0 1 2")


def test_another_owners_answer_cannot_be_read(held):
    web, _ = held
    with several_users(web), signed_in(web, "ann").streaming(QUESTION) as events:
        request_id = read(events, 5)[0].data["request_id"]
        for other in (signed_in(web, "bob"), web):
            answer = other.client.get(f"/ask/{request_id}/events")
            assert (answer.status_code, answer.json()["code"]) == (404, "answer_not_found")


def test_an_ended_answer_is_read_again_from_redis_alone_and_that_is_away_here(web):
    request_id = web.stream(QUESTION)[0].data["request_id"]
    answer = web.client.get(f"/ask/{request_id}/events")
    assert (answer.status_code, answer.json()["code"]) == (503, "resume_unavailable")


@pytest.mark.parametrize("number", ["-1", "x", "99999999999999"])
def test_what_is_no_number_of_an_event_is_refused(web, number):
    for sent in ({"headers": {"Last-Event-ID": number}}, {"params": {"after": number}}):
        answer = web.client.get("/ask/req_1/events", **sent)
        assert (answer.status_code, answer.json()["code"]) == (422, "bad_input")
