"""The stream of `POST /ask` from the real engine."""

import pytest
from waiting import wait_until

LEAVE = "How many days of annual leave do full-time employees have?"

pytestmark = pytest.mark.usefixtures("handbook")


def test_a_stream_tells_meta_then_sources_then_text_and_ends_once(client):
    with client.streaming(LEAVE, max_tokens=12) as stream:
        events = list(stream)
    names = [event.name for event in events]
    deltas = names[2:-1]
    assert names == ["meta", "sources", *deltas, "done"]
    assert set(deltas) == {"delta"}
    assert len(deltas) > 1


def test_the_pieces_of_a_stream_are_the_answer(client):
    with client.streaming(LEAVE, max_tokens=12) as stream:
        events = list(stream)
    text = "".join(event.data["text"] for event in events if event.name == "delta")
    done = events[-1].data
    assert text.strip() == done["answer"] == client.ask(LEAVE, max_tokens=12)["answer"]
    assert done["request_id"] == events[0].data["request_id"]


def test_sources_are_the_passages_that_citations_number(client):
    with client.streaming(LEAVE) as stream:
        events = list(stream)
    sources = {passage["n"]: passage for passage in events[1].data["passages"]}
    assert sorted(sources) == list(range(1, len(sources) + 1))
    for citation in events[-1].data["citations"]:
        assert citation["chunk_id"] == sources[citation["n"]]["chunk_id"]
        assert citation["quote"] in sources[citation["n"]]["text"]


def test_a_question_that_does_not_fit_is_refused_before_any_event(client):
    response = client.post(f"{LEAVE} " * 1500, stream=True)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "question_too_long"


def test_closing_the_connection_ends_the_generation_in_the_engine(client):
    def running():
        return client.engine_metric("vllm:num_requests_running")

    def finished():
        return client.engine_metric("vllm:request_success_total")

    wait_until(lambda: running() == 0, "the engine is idle")
    before = finished()
    with client.streaming(LEAVE, max_tokens=6000, temperature=2) as stream:
        while next(stream).name != "delta":
            continue
        wait_until(lambda: running() == 1, "the engine counts the request as running")
    wait_until(lambda: running() == 0, "the generation has ended")
    assert finished() == before
