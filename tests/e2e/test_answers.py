"""`POST /ask` answered by the real engine from pre-read documents."""

from concurrent.futures import ThreadPoolExecutor

import pytest

LEAVE = "How many days of annual leave do full-time employees have?"
ILLNESS = "Can leave days be given back after illness during a holiday?"
MILEAGE = "What is the mileage rate for your own car?"
CERTIFICATE = "From which day of illness do you need a medical certificate?"
FACTS = (LEAVE, MILEAGE, CERTIFICATE)

pytestmark = pytest.mark.usefixtures("handbook")


def test_a_fact_that_stands_in_the_documents_is_answered(client):
    answer = client.ask(MILEAGE)
    assert "0.42 euros" in answer["answer"]
    assert answer["status"] in ("answered", "truncated")


@pytest.mark.parametrize("question", FACTS)
def test_citations_quote_the_document_word_for_word(client, question):
    answer = client.ask(question)
    for citation in answer["citations"]:
        text = client.http.get(f"/documents/{citation['document_id']}/text").text
        assert text[citation["start"] : citation["end"]] == citation["quote"] != ""


def test_an_answer_cites_the_page_that_it_comes_from(client, handbook):
    cited = {citation["document_id"] for citation in client.ask(MILEAGE)["citations"]}
    assert handbook["expenses.md"] in cited


def test_every_chunk_of_preread_documents_is_reused(client):
    for question in (*FACTS, LEAVE):
        answer = client.ask(question, max_tokens=4)
        assert answer["fusion"] == {"used": True, "reason": None}
        assert answer["cache"]["hits"] == answer["cache"]["chunks"] > 0
        assert answer["cache"]["misses"] == []


def test_the_same_question_is_answered_the_same_again(client):
    assert client.ask(CERTIFICATE)["answer"] == client.ask(CERTIFICATE)["answer"]


def test_the_same_chunks_in_another_order_are_reused(client, handbook):
    scope = {"document_ids": [handbook["holidays.md"]]}
    orders = []
    for question in (LEAVE, ILLNESS):
        with client.streaming(question, scope=scope, max_tokens=4) as stream:
            events = list(stream)
        orders.append([passage["chunk_id"] for passage in events[1].data["passages"]])
        assert events[-1].data["cache"] == {"chunks": 2, "hits": 2, "misses": []}
    assert orders[0] == orders[1][::-1]


def test_every_token_of_the_context_is_reused_fresh_or_prefix(client, kv):
    with client.streaming(LEAVE, policy="none", max_tokens=4) as stream:
        events = list(stream)
    chunks = [kv.chunk(passage["chunk_id"]) for passage in events[1].data["passages"]]
    usage = events[-1].data["usage"]
    between = sum(len(kv.tokenizer.encode(f"\n\n[{number}] ")) for number in range(2, len(chunks) + 1))
    context = len(kv.preamble.ids) + sum(len(chunk.token_ids) for chunk in chunks) + between
    assert usage["reused_tokens"] + usage["fresh_tokens"] + usage["prefix_tokens"] == context
    assert usage["fresh_tokens"] == 0
    assert context < usage["prompt_tokens"]
    assert 1 <= usage["completion_tokens"] <= 4


def test_a_fused_answer_tells_the_time_of_every_stage(client):
    timings = client.ask(LEAVE, max_tokens=4)["timings"]
    assert all(milliseconds is not None and milliseconds >= 0 for milliseconds in timings.values())
    assert timings["retrieval_ms"] <= timings["ttft_ms"] <= timings["total_ms"]


def test_without_cache_everything_is_computed(client):
    answer = client.ask(LEAVE, cache="off", max_tokens=4)
    assert answer["policy"] == "exact"
    assert answer["fusion"]["used"] is False
    assert answer["usage"]["reused_tokens"] == answer["cache"]["hits"] == 0
    assert {miss["reason"] for miss in answer["cache"]["misses"]} == {"disabled"}
    assert answer["timings"]["load_ms"] is answer["timings"]["recompute_ms"] is None


def test_cache_only_answers_when_every_chunk_is_there(client):
    answer = client.ask(MILEAGE, cache="only", max_tokens=4)
    assert answer["cache"]["hits"] == answer["cache"]["chunks"]


def test_a_question_about_nothing_in_the_documents_has_no_answer(client):
    answer = client.ask("Which zebra won the quantum chess tournament?")
    assert answer["status"] == "no_answer"
    assert answer["citations"] == []
    assert answer["cache"] == {"chunks": 0, "hits": 0, "misses": []}


def test_without_documents_there_is_no_answer(client):
    assert client.ask(LEAVE, scope={"document_ids": []})["status"] == "no_answer"


def test_an_unknown_policy_is_refused(client):
    response = client.post(LEAVE, policy="sorcery@7")
    assert (response.status_code, response.json()["code"]) == (422, "bad_policy")


def test_questions_asked_together_are_answered_as_when_asked_alone(client):
    asked = [*FACTS, *reversed(FACTS)]

    def answer(question):
        answer = client.ask(question, max_tokens=16)
        assert answer["cache"]["hits"] == answer["cache"]["chunks"]
        return answer["answer"]

    alone = {question: answer(question) for question in FACTS}
    with ThreadPoolExecutor(len(asked)) as pool:
        together = list(pool.map(answer, asked))
    assert together == [alone[question] for question in asked]
