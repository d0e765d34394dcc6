"""SIGTERM, to a real process: what runs may go on for a while, nothing new begins, and in the end all is told so."""

import socket
import threading

import httpx
import pytest
from served_web import web_served
from web_harness import DEADLINE_SECONDS, PAGES, SECRET, Web, events_of, wait_until
from web_process import web_process
from wire import Asking

from app.core.settings import Settings
from app.web.draining import Draining
from app.web.main import create_app

QUESTION = "What is the travel meal allowance?"
END_SECONDS = 5
"""How much longer than its `drain_seconds` a process may take to end."""


@pytest.fixture(scope="module")
def library(engine, tmp_path_factory):
    """A state folder with documents in it, and nobody who uses it."""
    settings = Settings(_env_file=None, state_dir=tmp_path_factory.mktemp("drained"), engine_url=engine.url)
    app = create_app(settings)
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        web = Web(client, app.state.services, server, engine)
        for name, text in PAGES.items():
            web.add(name, text)
    return settings.state_dir


@pytest.fixture
def held(engine):
    """The engine says a word and then nothing, until the test sets this."""
    engine.behave()
    go_on = threading.Event()
    engine.script[1:1] = [lambda: go_on.wait(DEADLINE_SECONDS)]
    yield go_on
    go_on.set()
    engine.behave()


@pytest.fixture
def started(engine, library, tmp_path):
    """Starts the process with these settings."""

    def start(**settings):
        return web_process(tmp_path, state_dir=library, engine_url=engine.url, internal_secret=SECRET, **settings)

    return start


def asked(engine, number):
    wait_until(lambda: len(engine.completions) == number, f"{number} answers are being made")


def stops(web):
    """Wait until it has heard that it is to stop."""

    def unready():
        answer = web.client.get("/readyz")
        return answer.status_code == 503 and [part["name"] for part in answer.json()["parts"]] == ["web"]

    wait_until(unready, "it is unready because it is being stopped")


def test_answers_that_end_in_time_are_whole_and_nothing_new_begins(engine, held, started):
    with started(drain_seconds=600) as web:
        streamed = Asking(web.client, QUESTION, stream=True)
        single = Asking(web.client, QUESTION)
        asked(engine, 2)
        web.told_to_stop()
        stops(web)
        assert web.client.get("/healthz").json() == {"status": "ok"}
        for stream in (True, False):
            refused = web.client.post("/ask", json={"question": QUESTION, "stream": stream})
            assert (refused.status_code, refused.json()["code"]) == (503, "service_stopping")
            assert int(refused.headers["retry-after"]) >= 1
            assert refused.headers["connection"] == "close"
        assert web.client.get("/documents").status_code == 200
        held.set()
        assert single.answered().json()["answer"] == "Forty euros."
        streamed.answered()
        assert streamed.events[-1].name == "done"
        assert streamed.events[-1].data["answer"] == "Forty euros."
        assert web.ended(DEADLINE_SECONDS) == 0
    assert len(engine.completions) == 2


def test_answers_that_take_too_long_end_with_an_error_and_the_process_with_them(engine, held, started):
    with started(drain_seconds=0.5) as web:
        streamed = Asking(web.client, QUESTION, stream=True)
        single = Asking(web.client, QUESTION)
        asked(engine, 2)
        web.told_to_stop()
        assert web.ended(0.5 + END_SECONDS) == 0
        refused = single.answered()
        assert (refused.status_code, refused.json()["code"]) == (503, "service_stopping")
        streamed.answered()
        assert [event.name for event in streamed.events] == ["meta", "sources", "delta", "error"]
        assert streamed.events[-1].data["code"] == "service_stopping"


def test_those_in_line_are_sent_away(engine, held, started):
    with started(drain_seconds=600, answers_at_once=1) as web:
        running = Asking(web.client, QUESTION)
        asked(engine, 1)
        waiting = Asking(web.client, QUESTION)
        wait_until(lambda: "preread_answers_waiting 1.0" in web.client.get("/metrics").text, "the other one waits")
        web.told_to_stop()
        refused = waiting.answered()
        assert (refused.status_code, refused.json()["code"]) == (503, "service_stopping")
        held.set()
        assert running.answered().status_code == 200
        assert web.ended(DEADLINE_SECONDS) == 0


def test_told_twice_it_ends_at_once(engine, held, started):
    with (
        started(drain_seconds=600) as web,
        web.client.stream("POST", "/ask", json={"question": QUESTION, "stream": True}) as response,
    ):
        events = events_of(response)
        assert next(events).name == "meta"
        web.told_to_stop()
        with httpx.Client(base_url=web.client.base_url, headers=web.client.headers) as other:
            wait_until(lambda: other.get("/readyz").status_code == 503, "it has heard")
        web.told_to_stop()
        assert [event.name for event in events][-1] == "error"
        assert web.ended(END_SECONDS) == 0


def test_with_nothing_to_do_it_ends_at_once(started):
    with started(drain_seconds=600) as web:
        web.told_to_stop()
        assert web.ended(DEADLINE_SECONDS) == 0


def test_a_search_that_hangs_does_not_keep_the_process(engine, started):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(DEADLINE_SECONDS)
        index_url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with started(drain_seconds=0.5, index_url=index_url) as web:
            single = Asking(web.client, QUESTION)
            call, _ = silent.accept()
            web.told_to_stop()
            refused = single.answered()
            assert (refused.status_code, refused.json()["code"]) == (503, "service_stopping")
            web.ended(0.5 + END_SECONDS)
            call.close()


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_what_runs_has_its_time_and_no_more():
    clock = Clock()
    draining = Draining(10, clock)
    assert (draining.begun, draining.over(0)) == (False, False)
    draining.ask()
    assert (draining.begun, draining.over(1), draining.over(0)) == (True, False, True)
    clock.now += 10
    assert draining.over(1)


def test_asked_again_what_runs_has_no_more_time():
    draining = Draining(10, Clock())
    draining.ask()
    draining.ask()
    assert draining.over(1)


def test_what_is_overdue_is_known_after_the_grace():
    clock = Clock()
    draining = Draining(10, clock)
    assert not draining.overdue(0)
    draining.ask()
    clock.now += 14.9
    assert not draining.overdue(5)
    clock.now += 0.2
    assert draining.overdue(5)
