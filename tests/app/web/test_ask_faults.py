"""`/ask` when the engine, the client or the question misbehaves; good answers are tested on the real engine."""

import threading

import httpx
import pytest
from scripted_engine import WELL, piece, usage
from web_harness import Event, events_of, wait_until

from app.web.server import stop_streams

QUESTION = "What is the travel meal allowance?"
ELSEWHERE = "zxqv wblorf grumtide?"


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events]


def terminal(events: list[Event]) -> Event:
    """The last event, which is the only terminal one."""
    assert names(events)[:2] == ["meta", "sources"]
    assert set(names(events[2:-1])) <= {"delta"}
    assert events[-1].name in ("done", "error")
    return events[-1]


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        ([None], 502, "engine_failed"),
        ([piece("Forty"), None], 502, "engine_failed"),
        ([piece("Forty"), "[DONE]"], 502, "engine_failed"),
        ([piece("Forty", "abort"), usage(), "[DONE]"], 502, "engine_failed"),
        ([piece("Forty"), {"error": {"message": "out of memory"}}], 502, "engine_failed"),
    ],
    ids=["before its first word", "in the middle", "without finishing", "aborted", "with an error event"],
)
def test_an_engine_that_breaks_off_is_one_error(web, script, status, code):
    web.engine.script = script
    problem = terminal(web.stream(QUESTION)).data
    assert (problem["status"], problem["code"]) == (status, code)
    answer = web.ask(QUESTION)
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "answer" not in answer.json()


def test_after_a_broken_answer_the_next_question_is_answered(web):
    web.engine.script = [piece("Forty"), None]
    assert terminal(web.stream(QUESTION)).name == "error"
    web.engine.script = list(WELL)
    done = terminal(web.stream(QUESTION))
    assert (done.name, done.data["answer"], done.data["status"]) == ("done", "Forty euros.", "answered")


@pytest.mark.parametrize(("refusal", "status"), [(503, 503), (500, 502), (400, 502)])
def test_an_engine_that_refuses_is_an_error_both_ways(web, refusal, status):
    web.engine.refusal = refusal
    assert terminal(web.stream(QUESTION)).data["status"] == status
    assert web.ask(QUESTION).status_code == status


def test_line_separators_in_an_answer_arrive_as_they_are(web):
    text = "one\u2028two\u0085three\x0bfour\nfive"
    web.engine.script = [piece(text), piece("", "stop"), usage(), "[DONE]"]
    events = web.stream(QUESTION)
    assert "".join(event.data["text"] for event in events if event.name == "delta") == text
    assert terminal(events).data["answer"] == text


def test_an_answer_cut_by_its_limit_is_truncated(web):
    web.engine.script = [piece("Forty"), piece(" eur", "length"), usage(), "[DONE]"]
    assert web.ask(QUESTION).json()["status"] == "truncated"


@pytest.mark.parametrize("stream", [True, False])
def test_closing_the_connection_ends_the_generation(web, stream):
    slow = threading.Event()
    web.engine.script = [piece("word "), *[lambda: slow.wait(0.05), piece("word ")] * 400]
    body = {"question": QUESTION, "stream": stream}
    if stream:
        with web.client.stream("POST", "/ask", json=body) as response:
            next(event for event in events_of(response) if event.name == "delta")
    else:
        headers = web.client.headers
        with (
            pytest.raises(httpx.ReadTimeout),
            httpx.Client(base_url=web.client.base_url, timeout=1.0, headers=headers) as client,
        ):
            client.post("/ask", json=body)
    assert web.engine.left.wait(5), "the engine still writes"
    assert web.engine.completions


def test_an_engine_that_never_answers_does_not_hold_up_other_requests(web):
    hold = threading.Event()
    web.engine.script = [hold.wait]
    with web.client.stream("POST", "/ask", json={"question": QUESTION, "stream": True}) as response:
        lines = response.iter_lines()
        assert next(lines) == "event: meta"
        assert web.client.get("/healthz").json() == {"status": "ok"}
    hold.set()


def test_nothing_found_is_said_without_asking_the_model(web):
    events = web.stream(ELSEWHERE)
    done = terminal(events).data
    assert done["status"] == "no_answer"
    assert done["citations"] == []
    assert done["answer"] == "I found nothing about this in the documents."
    assert [event.data["text"] for event in events if event.name == "delta"] == [done["answer"]]
    assert web.engine.completions == []
    assert done["cache"] == {"chunks": 0, "hits": 0, "misses": []}


def test_nothing_found_is_said_in_the_questions_language(web):
    answer = web.ask("社員食堂のカレーの値段は?", scope={"document_ids": []}).json()
    assert answer["status"] == "no_answer"
    assert "見つかりません" in answer["answer"]


@pytest.mark.parametrize("stream", [True, False])
def test_a_question_too_long_for_the_model_is_refused_with_the_limit_before_any_stream(web, stream):
    answer = web.ask("travel meal allowance " * 3000, stream=stream)
    assert (answer.status_code, answer.json()["code"]) == (422, "question_too_long")
    assert str(4096 - 256) in answer.json()["detail"]
    assert web.engine.completions == []


def test_passages_that_do_not_fit_are_left_out(web):
    full = len(web.ask(QUESTION).json()["cache"]["misses"])
    prompt = len(web.engine.completions[0]["prompt"])
    web.engine.max_model_tokens = prompt - 1 + 256
    answer = web.ask(QUESTION).json()
    assert (full, answer["cache"]["chunks"]) == (2, 1)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"policy": "magic"}, "bad_policy"),
        ({"policy": "head@-1"}, "bad_policy"),
        ({"policy": "exact", "cache": "only"}, "contradictory_cache"),
        ({"policy": "head@16", "ratio": 0.1}, "bad_policy"),
        ({"policy": "impact", "ratio": 0}, "bad_input"),
        ({"policy": "impact", "ratio": 1.5}, "bad_input"),
        ({"question": ""}, "bad_input"),
        ({"question": " \n "}, "bad_input"),
        ({"max_tokens": 0}, "bad_input"),
        ({"temperature": 3}, "bad_input"),
        ({"scope": {"tag": "x"}}, "bad_input"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_what_cannot_be_asked_is_refused_before_any_stream(web, more, code, stream):
    answer = web.client.post("/ask", json={"question": QUESTION, "stream": stream, **more})
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("stream", [True, False])
def test_cache_only_refuses_while_a_chunk_is_missing(web, stream):
    answer = web.ask(QUESTION, cache="only", stream=stream)
    assert (answer.status_code, answer.json()["code"]) == (409, "cache_incomplete")
    assert web.engine.completions == []


def test_cache_off_is_the_policy_exact_and_counts_as_no_lookup(web):
    before = web.client.get("/admin/cache").json()["lookups"]
    answer = web.ask(QUESTION, cache="off", policy="none").json()
    assert answer["policy"] == "exact"
    assert answer["fusion"] == {"used": False, "reason": "the policy is exact"}
    assert {miss["reason"] for miss in answer["cache"]["misses"]} == {"disabled"}
    sent = web.engine.completions[0]
    assert sent["kv_transfer_params"]["preread"]["policy"] == "exact"
    web.settle()
    assert web.client.get("/admin/cache").json()["lookups"] == before


def test_a_ratio_goes_before_the_policys_own_share(web):
    for policy in ("impact", "impact@.3"):
        assert web.ask(QUESTION, policy=policy, ratio=0.08).json()["policy"] == "impact@.08"
    assert web.engine.completions[-1]["kv_transfer_params"]["preread"]["policy"] == "impact@.08"


def test_hits_and_misses_are_counted_exactly_and_misses_are_queued(web):
    services = web.services
    before = web.client.get("/admin/cache").json()
    web.engine.tiers = [("disk", None), (None, "absent")]
    answers = [web.ask(QUESTION).json() for _ in range(5)]
    for answer in answers:
        assert (answer["cache"]["chunks"], answer["cache"]["hits"]) == (2, 1)
        assert [miss["reason"] for miss in answer["cache"]["misses"]] == ["not_precomputed"]
        assert answer["usage"]["reused_tokens"] > 0
        assert answer["fusion"] == {"used": True, "reason": None}
    web.settle()
    after = web.client.get("/admin/cache").json()
    assert after["lookups"] == before["lookups"] + 10
    assert after["hits"] == before["hits"] + 5
    assert after["misses"] == before["misses"] + 5
    assert after["tokens_reused"] > before["tokens_reused"]
    assert services.catalog.lookup_totals("default").hit_rate == pytest.approx(after["hit_rate"])


def test_an_engine_that_cannot_fuse_answers_and_says_why(web):
    web.engine.not_fused = "sliding-window attention"
    answer = web.ask(QUESTION).json()
    assert answer["fusion"] == {"used": False, "reason": "sliding-window attention"}
    assert {miss["reason"] for miss in answer["cache"]["misses"]} == {"disabled"}
    assert web.ask(QUESTION, cache="only").status_code == 409


def test_only_documents_in_scope_are_used(web):
    documents = {item["name"]: item["id"] for item in web.client.get("/documents").json()["items"]}
    events = web.stream(QUESTION, scope={"document_ids": [documents["leave.md"]]})
    assert {p["document_id"] for e in events if e.name == "sources" for p in e.data["passages"]} <= {
        documents["leave.md"]
    }


def test_every_citation_is_found_in_the_document_it_names(web):
    web.engine.script = [piece("The allowance is 45 euros a day [1]."), piece("", "stop"), usage(), "[DONE]"]
    citations = web.ask(QUESTION).json()["citations"]
    assert citations
    for citation in citations:
        text = web.client.get(f"/documents/{citation['document_id']}/text").text
        assert text[citation["start"] : citation["end"]] == citation["quote"]


def test_stopping_the_service_ends_open_answers_with_an_error(web):
    hold = threading.Event()
    web.engine.script = [piece("Forty"), hold.wait]
    events: list[Event] = []
    listener = threading.Thread(target=lambda: events.extend(web.stream(QUESTION)))
    listener.start()
    wait_until(lambda: web.engine.completions, "the engine is asked")
    web.call(lambda: stop_streams(web.server.config.app))
    listener.join(10)
    hold.set()
    web.call(web.services.stopping.clear)
    assert terminal(events).data["code"] == "service_stopping"
