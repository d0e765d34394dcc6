"""Answers that are ended before their time, in the process that makes them."""

import threading

import pytest
from principals import several_users, signed_in
from scripted_engine import piece
from web_harness import wait_until

from app.core.access import Role

QUESTION = "What is the travel meal allowance?"


@pytest.fixture
def endless(web):
    """An engine that goes on writing until its client leaves."""
    pause = threading.Event()
    web.engine.script = [piece("word "), *[lambda: pause.wait(0.02), piece("word ")] * 2000]
    yield web
    pause.set()
    wait_until(lambda: web.engine.running == 0, "the engine has ended what it wrote")


def stop(web, request_id):
    return web.client.post(f"/ask/{request_id}/stop")


def begun(events):
    """The request id of an answer whose first word has come."""
    meta = next(events)
    assert next(event for event in events if event.name == "delta")
    return meta.data["request_id"]


def test_a_stopped_answer_ends_with_done_and_the_text_so_far_and_its_generation_with_it(endless):
    with endless.streaming(QUESTION, conversation_id="new") as events:
        request_id = begun(events)
        assert endless.engine.running == 1
        answer = stop(endless, request_id)
        assert (answer.status_code, answer.json()) == (202, {"request_id": request_id})
        rest = list(events)
    done = rest[-1]
    assert (done.name, done.data["status"]) == ("done", "stopped")
    assert {event.name for event in rest[:-1]} <= {"delta"}
    assert done.data["answer"] == " ".join(["word"] * (1 + len(rest[:-1])))
    assert done.data["usage"]["completion_tokens"] == len(rest)
    assert endless.engine.left.wait(5), "the engine still writes"
    wait_until(lambda: endless.engine.running == 0, "no request runs", seconds=5)
    turns = endless.client.get(f"/conversations/{done.data['conversation_id']}").json()["items"]
    assert [(turn["status"], turn["answer"]) for turn in turns] == [("stopped", done.data["answer"])]


def test_an_answer_whose_first_word_has_not_come_can_be_stopped(web):
    hold = threading.Event()
    web.engine.script = [hold.wait]
    with web.streaming(QUESTION) as events:
        request_id = next(events).data["request_id"]
        wait_until(lambda: web.engine.running == 1, "the engine is asked")
        assert stop(web, request_id).status_code == 202
        done = list(events)[-1]
    hold.set()
    assert (done.name, done.data["status"], done.data["answer"]) == ("done", "stopped", "")


def test_an_answer_that_is_not_streamed_is_stopped_by_whoever_knows_its_id(endless):
    answers = []
    asking = threading.Thread(target=lambda: answers.append(endless.ask(QUESTION).json()))
    asking.start()
    wait_until(lambda: endless.engine.running == 1, "the engine is asked")
    request_id = endless.engine.completions[-1]["kv_transfer_params"]["preread"]["request_id"]
    assert stop(endless, request_id).status_code == 202
    asking.join(10)
    assert answers[0]["status"] == "stopped"


def test_stopping_twice_is_no_error_while_it_ends_and_a_conflict_afterwards(endless):
    with endless.streaming(QUESTION) as events:
        request_id = begun(events)
        assert stop(endless, request_id).status_code == 202
        assert stop(endless, request_id).status_code in (202, 409)
        list(events)
    answer = stop(endless, request_id)
    assert (answer.status_code, answer.json()["code"]) == (409, "answer_ended")


def test_another_may_not_stop_an_answer_but_an_admin_of_the_tenant_may(endless):
    with several_users(endless):
        ann, bob = signed_in(endless, "ann"), signed_in(endless, "bob")
        with ann.streaming(QUESTION) as events:
            request_id = begun(events)
            for other in (bob, signed_in(endless, "eve", Role.ADMIN, tenant="other")):
                answer = stop(other, request_id)
                assert (answer.status_code, answer.json()["code"]) == (404, "answer_not_found")
            assert endless.engine.running == 1
            assert stop(signed_in(endless, "root", Role.ADMIN), request_id).status_code == 202
            assert list(events)[-1].data["status"] == "stopped"
        assert stop(bob, request_id).status_code == 404, "nor learn that there was one"


def test_an_unknown_answer_cannot_be_looked_for_in_other_processes_without_redis(web):
    answer = stop(web, "req_unknown")
    assert (answer.status_code, answer.json()["code"]) == (503, "stop_unavailable")


@pytest.mark.parametrize("stream", [True, False])
def test_running_requests_are_back_to_none_after_a_closed_connection(endless, stream):
    if stream:
        with endless.streaming(QUESTION) as events:
            begun(events)
    else:
        with pytest.raises(Exception, match="timed out"):
            endless.client.post("/ask", json={"question": QUESTION}, timeout=1.0)
    wait_until(lambda: endless.engine.running == 0, "no request runs", seconds=5)
    wait_until(lambda: endless.live == 0, "no answer is being made", seconds=5)
