"""Answers stopped and resumed through another web process than the one that makes them, over a Redis that may die."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import httpx
import pytest
from mortal_redis import MortalRedis
from principals import several_users, signed_in
from redis import Redis
from scripted_engine import piece, usage
from served_web import web_served
from web_harness import DEADLINE_SECONDS, SECRET, Web, wait_until

from app.web.live.shared import FIELD, events_key
from app.web.main import create_app

QUESTION = "What is the travel meal allowance?"
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def redis():
    with tempfile.TemporaryDirectory(prefix="prd-") as folder:
        redis = MortalRedis(Path(folder))
        yield redis
        redis.kill()


@pytest.fixture(scope="module")
def settings(shared_web, redis):
    address = str(shared_web.client.base_url).rstrip("/")
    redis_url = redis.url.replace("unix://", "redis+socket://")
    return shared_web.services.settings.model_copy(update={"index_url": address, "redis_url": redis_url})


@pytest.fixture(scope="module")
def pair(shared_web, settings):
    """Two webs on one database, index and Redis."""

    def served():
        app = create_app(settings)
        return app, web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS)

    (one_app, one), (two_app, two) = served(), served()
    with one as (server_1, client_1), two as (server_2, client_2):
        client_2.headers = client_1.headers  # the same caller at both
        yield (
            Web(client_1, one_app.state.services, server_1, shared_web.engine),
            Web(client_2, two_app.state.services, server_2, shared_web.engine),
        )


@pytest.fixture
def webs(web, pair):
    for each in pair:
        each.settle()
    return pair


@pytest.fixture
def held(webs):
    """The webs, and an engine that writes three words, waits to be let go, and writes three more."""
    go, engine = threading.Event(), webs[0].engine
    words = [piece(f"{n} ") for n in range(6)]
    engine.script = [*words[:3], lambda: go.wait(20), *words[3:], piece("", "stop"), usage(), "[DONE]"]
    yield *webs, go
    go.set()
    wait_until(lambda: engine.running == 0, "the engine has ended what it wrote")


def read(events, last):
    """The events up to the one with that number."""
    taken = []
    for event in events:
        taken.append(event)
        if event.number == last:
            break
    return taken


def stop(web, request_id):
    return web.client.post(f"/ask/{request_id}/stop")


def test_an_answer_is_stopped_through_another_web(held):
    here, there, _ = held
    with here.streaming(QUESTION) as events:
        request_id = read(events, 5)[0].data["request_id"]
        assert stop(there, request_id).status_code == 202
        done = list(events)[-1]
    assert (done.name, done.data["status"], done.data["answer"]) == ("done", "stopped", "0 1 2")
    answer = stop(there, request_id)
    assert (answer.status_code, answer.json()["code"]) == (409, "answer_ended")


@pytest.mark.parametrize("after", [0, 1, 4, 5])
def test_an_answer_is_resumed_through_another_web_without_a_gap_and_ends_once(held, after):
    here, there, go = held
    with here.streaming(QUESTION, resumable=True) as events:
        first = read(events, 5)
    with there.resuming(first[0].data["request_id"], after) as events:
        missed = read(events, 5) if after < 5 else []
        go.set()
        rest = list(events)
    whole = [*first[:after], *missed, *rest]
    assert [event.number for event in whole] == list(range(1, len(whole) + 1))
    assert [event.name for event in whole] == ["meta", "sources", *["delta"] * 6, "done"]
    assert whole[-1].data["answer"] == "0 1 2 3 4 5"


def test_an_ended_answer_is_read_again_word_for_word_by_either_web(webs):
    here, there = webs
    events = here.stream(QUESTION)
    for each in webs:
        with each.resuming(events[0].data["request_id"]) as again:
            assert list(again) == events
    path = f"/ask/{events[0].data['request_id']}/events"
    for number, status in ((len(events) - 1, 200), (len(events), 204), (len(events) + 9, 204)):
        assert there.client.get(path, headers={"Last-Event-ID": str(number)}).status_code == status


def test_a_reader_at_another_web_keeps_a_resumable_answer_going(held):
    here, there, go = held
    with here.streaming(QUESTION, resumable=True) as events:
        request_id = read(events, 5)[0].data["request_id"]
    answer = here.server.config.app.state.answering.live.get(request_id)
    wait_until(lambda: answer._leaving, "the first reader has left")
    first = answer._leaving.when()
    with there.resuming(request_id, 5) as events:
        wait_until(lambda: answer._leaving.when() > first, "its time runs anew")
        go.set()
        assert list(events)[-1].data["status"] == "answered"


def test_anothers_answer_exists_at_no_web(held):
    here, there, _ = held
    with several_users(*held[:2]):
        ann, bob = signed_in(here, "ann"), signed_in(there, "bob")
        with ann.streaming(QUESTION) as events:
            request_id = read(events, 5)[0].data["request_id"]
            for answer in (bob.client.get(f"/ask/{request_id}/events"), stop(bob, request_id)):
                assert (answer.status_code, answer.json()["code"]) == (404, "answer_not_found")
            assert stop(there, request_id).status_code == 202, "the operator is an admin"
            assert list(events)[-1].data["status"] == "stopped"


def test_an_answer_that_never_was_is_not_found(webs):
    for each in webs:
        for answer in (each.client.get("/ask/req_never/events"), stop(each, "req_never")):
            assert (answer.status_code, answer.json()["code"]) == (404, "answer_not_found")


def test_an_answer_that_was_not_streamed_can_be_stopped_elsewhere_but_not_read(held):
    here, there, _ = held
    answers = []
    asking = threading.Thread(target=lambda: answers.append(here.ask(QUESTION).json()))
    asking.start()
    wait_until(lambda: here.engine.running == 1, "the engine is asked")
    request_id = here.engine.completions[-1]["kv_transfer_params"]["preread"]["request_id"]
    answer = there.client.get(f"/ask/{request_id}/events")
    assert (answer.status_code, answer.json()["code"]) == (503, "resume_unavailable")
    assert stop(there, request_id).status_code == 202
    asking.join(10)
    assert answers[0]["status"] == "stopped"


def too_much(monkeypatch, _redis, _request_id):
    monkeypatch.setattr("app.web.live.journal._MOST_BYTES", 0)


def refused(_monkeypatch, redis, request_id):
    """Somebody else wrote a later event."""
    with Redis.from_url(redis.url) as client:
        client.xadd(events_key(request_id), {FIELD: "[]"}, id="99-0")


@pytest.mark.parametrize("fault", [too_much, refused])
def test_events_that_cannot_be_kept_break_nothing_but_resuming_elsewhere(held, redis, monkeypatch, fault):
    here, there, go = held
    with here.streaming(QUESTION, resumable=True) as events:
        first = read(events, 5)
        request_id = first[0].data["request_id"]
        with there.resuming(request_id) as again:
            assert read(again, 5) == first
            fault(monkeypatch, redis, request_id)
            go.set()
            rest = list(events)
            assert (rest[-1].name, rest[-1].data["status"]) == ("done", "answered")
            (last,) = again
    assert (last.name, last.number, last.data["code"]) == ("error", None, "resume_unavailable")
    answer = there.client.get(f"/ask/{request_id}/events")
    assert (answer.status_code, answer.json()["code"]) == (503, "resume_unavailable")


def test_a_killed_web_leaves_whoever_resumes_an_error_and_everyone_the_same(held, settings):
    _, there, _ = held
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", "from app.cli.main import main; main()", "web"],
        cwd=ROOT,
        env={
            **os.environ,
            "PREREAD_STATE_DIR": str(settings.state_dir),
            "PREREAD_ENGINE_URL": settings.engine_url,
            "PREREAD_INDEX_URL": settings.index_url,
            "PREREAD_REDIS_URL": settings.redis_url,
            "PREREAD_INTERNAL_SECRET": SECRET,
            "PREREAD_PORT": str(port),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=address, timeout=DEADLINE_SECONDS, headers=there.client.headers) as client:
            wait_until(lambda: answers(client), "the third web answers", seconds=120)
            third = Web(client, there.services, there.server, there.engine)
            with third.streaming(QUESTION, resumable=True) as events:
                first = read(events, 5)
                request_id = first[0].data["request_id"]
                with there.resuming(request_id) as again:
                    assert read(again, 5) == first, "all of it is written down"
                process.send_signal(signal.SIGKILL)
                process.wait(10)
    except httpx.RemoteProtocolError:
        pass  # the first reader's connection broke
    finally:
        process.kill()
        process.wait(10)
    with there.resuming(request_id, 3) as events:
        rest = list(events)
    assert [event.name for event in rest] == ["delta", "delta", "error"]
    assert (rest[-1].number, rest[-1].data["status"], rest[-1].data["code"]) == (6, 503, "answer_lost")
    with there.resuming(request_id, 3) as events:
        assert list(events) == rest
    assert stop(there, request_id).status_code == 409


def answers(client):
    try:
        return client.get("/healthz").is_success
    except httpx.TransportError:
        return False


def test_while_redis_is_away_answers_go_on_and_only_resuming_elsewhere_does_not(held, redis):
    here, there, go = held
    with here.streaming(QUESTION, resumable=True) as events:
        first = read(events, 5)
        request_id = first[0].data["request_id"]
        redis.kill()
        try:
            for answer, code in (
                (there.client.get(f"/ask/{request_id}/events"), "resume_unavailable"),
                (stop(there, request_id), "stop_unavailable"),
            ):
                assert (answer.status_code, answer.json()["code"]) == (503, code)
            assert stop(here, "req_other").status_code == 503
            with here.resuming(request_id, 2) as again:
                go.set()
                assert [*first[2:], *events] == list(again), "where it is made it can be resumed all the same"
            assert here.ask(QUESTION).json()["status"] == "answered"
        finally:
            redis.start()

    def resumed():
        request_id = here.stream(QUESTION)[0].data["request_id"]
        return there.client.get(f"/ask/{request_id}/events").status_code == 200

    wait_until(resumed, "new answers can be resumed again")
