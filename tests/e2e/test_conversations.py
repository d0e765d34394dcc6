"""Conversations, stops and resumed streams with the real engine; where there are two webs, through both in turn."""

import pytest
from waiting import wait_until

LEAVE = "How many days of annual leave do full-time employees have?"
FOLLOW_UP = "And can leave days be given back after illness during a holiday?"
MILEAGE = "What is the mileage rate for your own car?"

pytestmark = pytest.mark.usefixtures("handbook")


@pytest.fixture
def conversation(client):
    """A conversation with one question in it."""
    first = client.ask(LEAVE, conversation_id="new", max_tokens=24)
    yield first
    client.http.delete(f"/conversations/{first['conversation_id']}").raise_for_status()


def go_on(client, conversation, question, **fields):
    answer = client.ask(question, conversation_id=conversation["conversation_id"], debug=True, max_tokens=16, **fields)
    assert answer["debug"]["prompt"]["history"] > 0
    return answer


def test_a_second_question_reuses_the_documents_kv(client, conversation):
    answer = go_on(client, conversation, FOLLOW_UP)
    assert answer["fusion"] == {"used": True, "reason": None}
    assert answer["usage"]["reused_tokens"] > 0
    assert answer["cache"]["hits"] == answer["cache"]["chunks"] > 0
    assert answer["cache"]["misses"] == []


def test_without_cache_everything_of_a_follow_up_is_computed(client, conversation):
    answer = go_on(client, conversation, FOLLOW_UP, cache="off")
    assert (answer["policy"], answer["usage"]["reused_tokens"]) == ("exact", 0)
    assert answer["answer"]


@pytest.mark.parametrize("fields", [{}, {"cache": "off"}], ids=["fused", "exact"])
def test_the_same_history_is_answered_the_same_again(client, fields):
    def second():
        first = client.ask(LEAVE, conversation_id="new", max_tokens=24)
        return go_on(client, first, MILEAGE, **fields)

    one, other = second(), second()
    assert one["answer"] == other["answer"]
    assert one["debug"]["prompt"] == other["debug"]["prompt"]


def test_a_fact_is_found_in_a_conversation_about_something_else(client, conversation, handbook):
    answer = go_on(client, conversation, MILEAGE)
    assert handbook["expenses.md"] in {citation["document_id"] for citation in answer["citations"]}


def test_a_conversation_shows_what_was_asked_and_answered(client, conversation):
    answer = go_on(client, conversation, FOLLOW_UP)
    turns = client.http.get(f"/conversations/{conversation['conversation_id']}").raise_for_status().json()["items"]
    assert [turn["question"] for turn in turns] == [LEAVE, FOLLOW_UP]
    assert [turn["answer"] for turn in turns] == [conversation["answer"], answer["answer"]]


def test_a_stopped_answer_leaves_nothing_running_in_the_engine(client):
    def running():
        return client.engine_metric("vllm:num_requests_running")

    wait_until(lambda: running() == 0, "the engine is idle")
    with client.streaming(LEAVE, max_tokens=6000, temperature=2) as stream:
        request_id = next(stream).data["request_id"]
        while next(stream).name != "delta":
            continue
        assert client.http.post(f"/ask/{request_id}/stop").status_code == 202
        last = list(stream)[-1]
    assert (last.name, last.data["status"]) == ("done", "stopped")
    wait_until(lambda: running() == 0, "the generation has ended")


def test_a_stream_that_broke_is_resumed_to_its_end(client):
    with client.streaming(LEAVE, max_tokens=60, resumable=True) as stream:
        request_id = next(stream).data["request_id"]
        while next(stream).name != "delta":
            continue
    with client.resuming(request_id) as stream:
        events = list(stream)
    text = "".join(event.data["text"] for event in events if event.name == "delta")
    assert [event.name for event in events[:2]] == ["meta", "sources"]
    assert events[-1].name == "done"
    assert events[-1].data["status"] in ("answered", "truncated")
    assert text.strip() == events[-1].data["answer"]
