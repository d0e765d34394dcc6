"""`X-Request-ID`: in every response, in every log line of the request, and on to the engine."""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from app.core.logs import RequestFields

QUESTION = "What is the travel meal allowance?"
PATHS = ["/healthz", "/documents", "/nowhere", "/documents/doc_none", "/assets/none.js", "/openapi.json", "/metrics"]


@contextmanager
def lines():
    """The records that are logged meanwhile, with the fields of their request."""
    records: list[logging.LogRecord] = []

    class Keeping(logging.Handler):
        def emit(self, record):
            records.append(record)

    handler, root = Keeping(), logging.getLogger()
    handler.addFilter(RequestFields())
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield records
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


@pytest.mark.parametrize("path", PATHS)
def test_a_request_keeps_its_id(web, path):
    assert web.client.get(path, headers={"X-Request-ID": "batch-7.of_9"}).headers["x-request-id"] == "batch-7.of_9"


@pytest.mark.parametrize("path", PATHS)
def test_a_request_without_one_gets_one(web, path):
    first, second = (web.client.get(path).headers["x-request-id"] for _ in range(2))
    assert first.startswith("http_")
    assert first != second


@pytest.mark.parametrize("sent", ["", "a b", "a\tb", "x" * 129, "ü", '{"a":1}', "a;b"], ids=ascii)
def test_an_id_that_could_do_harm_in_a_log_is_replaced(web, sent):
    answer = web.client.get("/nowhere", headers={"X-Request-ID": sent.encode()})
    assert answer.headers["x-request-id"].startswith("http_")
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize("stream", [True, False])
def test_the_engine_is_told(web, stream):
    body = {"question": QUESTION, "stream": stream}
    answer = web.client.post("/ask", json=body, headers={"X-Request-ID": "asked-1"})
    assert answer.headers["x-request-id"] == "asked-1"
    assert [headers["X-Request-ID"] for headers in web.engine.headers] == ["asked-1"]


def test_every_line_of_an_answer_has_it_also_from_threads_and_background_tasks(web, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("not counted")

    monkeypatch.setattr(web.services.catalog, "record_lookups", broken)
    with lines() as records:
        web.client.post("/ask", json={"question": QUESTION}, headers={"X-Request-ID": "asked-2"})
        web.settle()
    found = {record.getMessage().split(":")[0].split(" req_")[0]: record.request_id for record in records}
    told = {message: request_id for message, request_id in found.items() if request_id == "asked-2"}
    assert "the look-ups of an answer were not counted" in told
    assert "answer" in told
    assert any(message.startswith("POST /ask 200") for message in told)


def test_a_line_relates_it_to_the_answers_own_id(web):
    with lines() as records:
        answer = web.client.post("/ask", json={"question": QUESTION}, headers={"X-Request-ID": "asked-3"}).json()
    (line,) = [record for record in records if record.getMessage().startswith(f"answer {answer['request_id']}: ")]
    assert (line.request_id, line.tenant) == ("asked-3", "default")


def test_two_requests_at_once_keep_their_ids_apart(web):
    def ask(number):
        return web.client.post("/ask", json={"question": QUESTION}, headers={"X-Request-ID": f"each-{number}"})

    with ThreadPoolExecutor(8) as threads:
        ids = [answer.headers["x-request-id"] for answer in threads.map(ask, range(24))]
    assert ids == [f"each-{number}" for number in range(24)]
    assert sorted(headers["X-Request-ID"] for headers in web.engine.headers) == sorted(ids)
