"""`/ask` and everything beside it when more is asked than can be answered, and when those who asked leave."""

import threading

import pytest
from prometheus_client.parser import text_string_to_metric_families
from scripted_engine import piece
from served_web import web_served
from web_harness import DEADLINE_SECONDS, PAGES, SECRET, Web, wait_until
from wire import Asking, sent

from app.core.settings import Settings
from app.web.main import create_app

QUESTION = "What is the travel meal allowance?"
ENGINE_SECONDS = 2.0
"""A second is what is promised; the rest is for a busy machine."""


@pytest.fixture(scope="module")
def small_web(engine, tmp_path_factory):
    """One answer at a time, one more may wait, and one thread searches."""
    settings = Settings(
        _env_file=None,
        state_dir=tmp_path_factory.mktemp("small"),
        engine_url=engine.url,
        internal_secret=SECRET,
        top_k=2,
        answers_at_once=1,
        answers_waiting=1,
        waiting_seconds=600,
        search_threads=1,
    )
    app = create_app(settings)
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        web = Web(client, app.state.services, server, engine)
        for name, text in PAGES.items():
            web.add(name, text)
        yield web


@pytest.fixture
def small(small_web):
    """At rest before and after."""
    small_web.engine.behave()
    small_web.settle()
    yield small_web
    wait_until(lambda: at_rest(small_web), "nothing runs or waits any more")


@pytest.fixture
def held(small):
    """The engine says a word and then nothing, until the test sets this."""
    go_on = threading.Event()
    small.engine.script[1:1] = [lambda: go_on.wait(DEADLINE_SECONDS)]
    yield go_on
    go_on.set()


def at_rest(web):
    return (web.services.admission.running, web.services.admission.waiting) == (0, 0)


def running(web, number=1):
    wait_until(lambda: len(web.engine.completions) == number, f"the engine has been asked {number} times")


def waiting(web, number=1):
    wait_until(lambda: web.services.admission.waiting == number, f"{number} questions wait")


@pytest.mark.parametrize("stream", [True, False])
def test_what_cannot_even_wait_gets_503_at_once_and_is_told_when_to_return(small, held, stream):
    first = Asking(small.client, QUESTION)
    running(small)
    second = Asking(small.client, QUESTION)
    waiting(small)
    refused = small.ask(QUESTION, stream=stream)
    assert refused.headers["content-type"] == "application/problem+json"
    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.headers["retry-after"] in refused.json()["hint"]
    held.set()
    assert [first.answered().status_code, second.answered().status_code] == [200, 200]
    assert len(small.engine.completions) == 2


def test_what_waits_too_long_gets_503(small, held, monkeypatch):
    monkeypatch.setattr(small.services.admission, "_waiting_seconds", 0.05)
    first = Asking(small.client, QUESTION)
    running(small)
    refused = small.ask(QUESTION)
    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert "retry-after" in refused.headers
    held.set()
    assert first.answered().status_code == 200


def test_an_answer_keeps_its_place_until_its_last_event(small, held):
    with small.client.stream("POST", "/ask", json={"question": QUESTION, "stream": True}) as response:
        lines = response.iter_lines()
        assert next(lines) == "event: meta"
        assert small.services.admission.running == 1
        second = Asking(small.client, QUESTION, stream=True)
        waiting(small)
        held.set()
        assert "event: done" in list(lines)
    second.answered()
    assert [second.events[0].name, second.events[-1].name] == ["meta", "done"]


def test_a_resumable_answer_keeps_its_place_when_its_client_has_left(small, held):
    with small.streaming(QUESTION, resumable=True) as events:
        next(events)
        running(small)
    second = Asking(small.client, QUESTION, stream=True)
    waiting(small)
    assert (small.services.admission.running, small.live) == (1, 1)
    held.set()
    assert second.answered().status_code == 200
    assert len(small.engine.completions) == 2


@pytest.mark.parametrize("status", [422, 502])
def test_a_question_that_ends_in_an_error_gives_its_place_back(small, status):
    small.engine.script = [None]
    more = {"policy": "magic"} if status == 422 else {}
    for _ in range(3):
        assert small.ask(QUESTION, **more).status_code == status


@pytest.mark.parametrize("stream", [True, False])
def test_leaving_while_waiting_frees_the_place_in_line_and_the_engine_is_never_asked(small, held, stream):
    first = Asking(small.client, QUESTION)
    running(small)
    connection = sent(small.client, QUESTION, stream=stream)
    waiting(small)
    connection.close()
    waiting(small, 0)
    held.set()
    assert first.answered().status_code == 200
    wait_until(lambda: at_rest(small), "all is over")
    assert len(small.engine.completions) == 1


@pytest.mark.parametrize("stream", [True, False])
def test_leaving_while_passages_are_sought_frees_the_place_and_the_engine_is_never_asked(small, monkeypatch, stream):
    sought, go_on = threading.Event(), threading.Event()
    real = small.services.embedder.embed_query

    def embed_query(question):
        sought.set()
        go_on.wait(DEADLINE_SECONDS)
        return real(question)

    monkeypatch.setattr(small.services.embedder, "embed_query", embed_query)
    connection = sent(small.client, QUESTION, stream=stream)
    assert sought.wait(DEADLINE_SECONDS)
    assert small.services.admission.running == 1
    connection.close()
    wait_until(lambda: at_rest(small), "the place is free although the search has not ended")
    go_on.set()
    assert small.ask(QUESTION).status_code == 200
    assert len(small.engine.completions) == 1


@pytest.mark.parametrize("stream", [True, False])
def test_leaving_before_the_first_word_reaches_the_engine(small, stream):
    slow = threading.Event()
    small.engine.script = [lambda: slow.wait(0.05), piece("")] * 1000
    connection = sent(small.client, QUESTION, stream=stream)
    running(small)
    assert not small.engine.left.is_set()
    connection.close()
    assert small.engine.left.wait(ENGINE_SECONDS), "the engine still writes"


@pytest.mark.parametrize("stream", [True, False])
def test_leaving_in_the_middle_reaches_the_engine(small, stream):
    slow = threading.Event()
    small.engine.script = [piece("word "), *[lambda: slow.wait(0.05), piece("word ")] * 1000]
    connection = sent(small.client, QUESTION, stream=stream)
    running(small)
    connection.close()
    assert small.engine.left.wait(ENGINE_SECONDS), "the engine still writes"


def test_with_every_thread_busy_health_and_readiness_answer(small, monkeypatch):
    go_on, hanging = threading.Event(), threading.Semaphore(0)

    def until_told(function):
        def hang(*args):
            hanging.release()
            go_on.wait(DEADLINE_SECONDS)
            return function(*args)

        return hang

    services = small.services
    monkeypatch.setattr(services.embedder, "embed_query", until_told(services.embedder.embed_query))
    monkeypatch.setattr(services.catalog, "lookup_totals", until_told(services.catalog.lookup_totals))
    question = sent(small.client, QUESTION)
    others = [threading.Thread(target=small.client.get, args=("/admin/cache",), daemon=True) for _ in range(60)]
    for thread in others:
        thread.start()
    for _ in range(41):  # the question, and as many as there are threads for everything else
        assert hanging.acquire(timeout=DEADLINE_SECONDS)
    try:
        assert small.client.get("/healthz").json() == {"status": "ok"}
        found = small.client.get("/readyz").json()
        assert {part["name"] for part in found["parts"] if part["ok"]} >= {"database", "engine", "index"}
    finally:
        go_on.set()
        question.close()
        for thread in others:
            thread.join(DEADLINE_SECONDS)


def test_questions_that_hang_hold_up_nothing_but_questions(small, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr(small.services.embedder, "embed_query", lambda _: go_on.wait(DEADLINE_SECONDS) and [])
    connections = [sent(small.client, QUESTION) for _ in range(2)]
    waiting(small)
    for path in ("/documents", "/status", "/admin/cache", "/jobs", "/metrics"):
        assert small.client.get(path).status_code == 200, path
    for connection in connections:
        connection.close()
    wait_until(lambda: at_rest(small), "both have left")
    go_on.set()


def test_metrics_tell_what_runs_what_waits_and_what_was_sent_away(small, held):
    def scraped():
        families = text_string_to_metric_families(small.client.get("/metrics").text)
        samples = [sample for family in families for sample in family.samples]
        return {s.labels.get("reason", s.name): s.value for s in samples if s.name.startswith("preread_answers_")}

    before = scraped()
    first = Asking(small.client, QUESTION)
    running(small)
    second = Asking(small.client, QUESTION)
    waiting(small)
    assert small.ask(QUESTION).status_code == 503
    after = scraped()
    assert (after["preread_answers_running"], after["preread_answers_waiting"]) == (1, 1)
    assert after["full"] == before["full"] + 1
    assert (after["waited"], after["stopping"]) == (before["waited"], before["stopping"])
    held.set()
    assert [first.answered().status_code, second.answered().status_code] == [200, 200]
