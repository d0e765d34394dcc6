import json

import pytest

from app.cli.client import ApiClient
from app.cli.errors import NoApiKey, NotRunning, Refused

PROBLEM = {"detail": "There is no document doc_x.", "hint": "See preread ls.", "code": "not_found"}


@pytest.fixture
def client(server):
    with ApiClient(f"http://127.0.0.1:{server.server_port}") as client:
        yield client


def test_a_problem_keeps_its_sentence_hint_and_code(server, client) -> None:
    server.answer = 404, "application/problem+json", json.dumps(PROBLEM).encode()
    with pytest.raises(Refused) as caught:
        client.delete("doc_x")
    assert (caught.value.message, caught.value.hint, caught.value.problem_code) == tuple(PROBLEM.values())


def test_another_program_on_the_port_is_told_apart(server, client) -> None:
    server.answer = 502, "text/html", b"<h1>Bad gateway</h1>"
    with pytest.raises(Refused, match="not as Preread does"):
        client.status()


def test_nothing_there_says_how_to_start() -> None:
    with ApiClient("http://127.0.0.1:9") as client, pytest.raises(NotRunning) as caught:
        client.status()
    assert caught.value.hint == "Start it: preread up"


def test_not_ready_is_an_answer(server, client) -> None:
    parts = [{"name": "engine", "ok": False, "message": "loading", "hint": ""}]
    server.answer = 503, "application/json", json.dumps({"ready": False, "parts": parts}).encode()
    assert client.readiness().parts[0].message == "loading"


def test_a_stream_ends_at_done(server, client) -> None:
    server.answer = 200, "text/event-stream", b'event: delta\ndata: {"text": "a"}\n\nevent: done\ndata: {}\n\n'
    assert [event.name for event in client.ask_streaming({})] == ["delta", "done"]


def test_an_error_event_is_raised(server, client) -> None:
    server.answer = 200, "text/event-stream", f"event: error\ndata: {json.dumps(PROBLEM)}\n\n".encode()
    with pytest.raises(Refused, match="no document"):
        list(client.ask_streaming({}))


def test_a_stream_that_just_ends_is_an_error(server, client) -> None:
    server.answer = 200, "text/event-stream", b'event: delta\ndata: {"text": "half"}\n\n'
    with pytest.raises(Refused, match="before it was complete"):
        list(client.ask_streaming({}))


def refuse(server) -> None:
    problem = {**PROBLEM, "code": "unauthenticated", "detail": "This API key is not known."}
    server.answer = 401, "application/problem+json", json.dumps(problem).encode()


def test_without_a_key_one_is_told_where_it_comes_from(server, client) -> None:
    refuse(server)
    with pytest.raises(NoApiKey) as caught:
        client.status()
    assert "PREREAD_API_KEY" in caught.value.hint
    with pytest.raises(NoApiKey):
        list(client.ask_streaming({}))


def test_a_key_is_sent_and_one_that_is_refused_is_no_missing_one(server) -> None:
    refuse(server)
    with ApiClient(f"http://127.0.0.1:{server.server_port}", "prk_a_b") as client, pytest.raises(Refused) as caught:
        client.status()
    assert caught.value.problem_code == "unauthenticated"
    assert server.sent[-1]["authorization"] == "Bearer prk_a_b"
