"""Whatever goes wrong, and wherever: an answer ends with exactly one `done` or `error`, and the next one is well."""

import threading

import pytest
from scripted_engine import WELL, piece, usage
from web_harness import wait_until

from app.core.catalog import Catalog, DatabaseUnavailable
from app.web.lookups import Lookups
from app.web.server import stop_streams
from generator.engine import EngineClient
from generator.errors import EngineUnavailable

QUESTION = "What is the travel meal allowance?"
SCRIPT = [piece("Forty"), piece(" euros"), piece(" a day."), piece("", "stop"), usage(), "[DONE]"]
FAULTS = {
    "hangs up": None,
    "reports an error": {"error": {"message": "out of memory"}},
    "says what is no JSON": "{",
    "says what is no event": {"choices": [{}]},
    "aborts": piece("", "abort"),
}


def ended_once(events):
    """The terminal event, behind numbered ones without a gap."""
    names = [event.name for event in events]
    assert names[:2] == ["meta", "sources"]
    assert [name for name in names if name in ("done", "error")] == names[-1:]
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    return events[-1]


def well(web):
    web.engine.script = list(WELL)
    assert ended_once(web.stream(QUESTION)).data["answer"] == "Forty euros."


@pytest.mark.parametrize("at", range(len(SCRIPT)))
@pytest.mark.parametrize("fault", FAULTS)
def test_an_engine_that_fails_at_any_point(web, at, fault):
    web.engine.script = [*SCRIPT[:at], FAULTS[fault], *SCRIPT[max(at, 4) :]]
    last = ended_once(web.stream(QUESTION))
    if at < 4:
        assert last.name == "error"
        assert web.ask(QUESTION).status_code == last.data["status"] >= 500
    well(web)


@pytest.mark.parametrize("at", range(len(SCRIPT)))
@pytest.mark.parametrize("ending", ["stop", "service_stopping"])
def test_an_answer_that_is_ended_at_any_point(web, at, ending):
    reached, go = threading.Event(), threading.Event()

    def pause():
        reached.set()
        go.wait(10)

    web.engine.script = [*SCRIPT[:at], pause, *SCRIPT[at:]]
    with web.streaming(QUESTION) as arriving:
        events = [next(arriving)]
        assert reached.wait(10)
        if ending == "stop":
            assert web.client.post(f"/ask/{events[0].data['request_id']}/stop").status_code == 202
        else:
            web.call(lambda: stop_streams(web.server.config.app))
        events += arriving
    go.set()
    wait_until(lambda: web.engine.running == 0, "the engine has ended what it wrote")
    web.call(web.services.stopping.clear)
    last = ended_once(events)
    if at < 4:
        told = last.data["status"] if ending == "stop" else last.data["code"]
        assert told == ("stopped" if ending == "stop" else "service_stopping")
    well(web)


def fail(error):
    def failing(*_args, **_kwargs):
        raise error

    return failing


@pytest.mark.parametrize(
    ("owner", "name"),
    [(EngineClient, "report"), (Lookups, "account"), (Catalog, "record_lookups"), (Catalog, "record_answer")],
    ids=lambda value: getattr(value, "__name__", value),
)
@pytest.mark.parametrize(
    "error", [EngineUnavailable("away"), DatabaseUnavailable("away"), RuntimeError("broken")], ids=repr
)
def test_what_is_only_told_of_an_answer_may_fail_without_it(web, monkeypatch, owner, name, error):
    monkeypatch.setattr(owner, name, fail(error))
    last = ended_once(web.stream(QUESTION, conversation_id="new"))
    assert (last.name, last.data["answer"]) == ("done", "Forty euros.")


@pytest.mark.parametrize(("name", "status"), [("status", 503), ("generate", 503)])
def test_an_engine_that_is_away_is_said_before_the_stream_or_in_it(web, monkeypatch, name, status):
    monkeypatch.setattr(EngineClient, name, fail(EngineUnavailable("away")))
    assert web.ask(QUESTION).status_code == status
    answer = web.client.post("/ask", json={"question": QUESTION, "stream": True})
    if name == "status":
        assert answer.status_code == status
    else:
        assert answer.text.count("event: error") == 1
        assert "event: done" not in answer.text


@pytest.mark.parametrize("name", ["begin_conversation", "turns"])
def test_a_database_that_is_away_is_said_before_the_stream(web, monkeypatch, name):
    conversation_id = web.ask(QUESTION, conversation_id="new").json()["conversation_id"]
    monkeypatch.setattr(Catalog, name, fail(DatabaseUnavailable("away")))
    wanted = "new" if name == "begin_conversation" else conversation_id
    answer = web.ask(QUESTION, stream=True, conversation_id=wanted)
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")


def test_a_database_that_hangs_holds_no_answer_up(web, monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(Catalog, "record_answer", lambda *_: go.wait(20))
    last = ended_once(web.stream(QUESTION))
    assert not go.is_set()
    go.set()
    assert last.name == "done"
