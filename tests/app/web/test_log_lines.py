"""What web logs of a session: a line for each request, and nothing that was asked, answered or uploaded."""

import io
import json
import logging

import pytest
from scripted_engine import piece, usage
from web_harness import wait_until

from app.core.logs import JsonLines, RequestFields, logging_config

CANARIES = {
    "question": "canaryquestion",
    "answer": "canaryanswer",
    "document": "canarydocument",
    "query": "canaryquery",
    "cursor": "canarycursor",
    "key": "canarykey",
}


@pytest.fixture
def log(monkeypatch):
    stream, root = io.StringIO(), logging.getLogger()
    for name, talkative in logging_config("json", "INFO")["loggers"].items():
        monkeypatch.setattr(logging.getLogger(name), "level", logging.getLevelName(talkative["level"]))
    handler, level = logging.StreamHandler(stream), root.level
    handler.setFormatter(JsonLines())
    handler.addFilter(RequestFields())
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


def lines_of(log):
    return [json.loads(line) for line in log.getvalue().splitlines()]


def accesses(log):
    return [line for line in lines_of(log) if line["logger"] == "app.web.access_log"]


def test_a_request_is_one_line_with_its_template(web, log):
    answer = web.client.get("/documents/doc_none/text?x=canary", headers={"X-Request-ID": "one"})
    (line,) = accesses(log)
    assert (
        line.items()
        >= {
            "method": "GET",
            "path": "/documents/{document_id}/text",
            "status": 404,
            "bytes": len(answer.content),
            "principal": web.client.headers["authorization"].split("_")[1].join(("key_", "")),
            "tenant": "default",
            "request_id": "one",
        }.items()
    )
    assert line["ms"] > 0
    assert "doc_none" not in line["message"]


def test_a_path_that_is_none_is_not_repeated(web, log):
    web.client.get("/canary-path")
    assert [line["path"] for line in accesses(log)] == ["(no route)"]


def test_a_stream_is_one_line_when_it_has_ended(web, log):
    web.stream("What is the travel meal allowance?")
    wait_until(lambda: accesses(log), "the answer has ended for the log too")
    (line,) = accesses(log)
    assert (line["path"], line["status"]) == ("/ask", 200)
    assert line["bytes"] > 500


def test_an_unexpected_error_is_a_traceback_with_the_requests_id(web, log, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("broken inside")

    monkeypatch.setattr(web.services.catalog, "document_table", broken)
    web.client.get("/documents", headers={"X-Request-ID": "two"})
    (line,) = [line for line in lines_of(log) if "exception" in line]
    assert (line["request_id"], line["level"]) == ("two", "ERROR")
    assert "broken inside" in line["exception"]


def test_no_line_has_what_was_asked_answered_or_uploaded(web, log, monkeypatch):
    document_id = web.add("plain.md", f"# Plain\n\nThe {CANARIES['document']} is kept in the cellar of the pier.\n")
    question = f"Where is the {CANARIES['document']} kept, {CANARIES['question']}?"
    web.engine.script = [piece(f"{CANARIES['answer']} [1]."), piece("", "stop"), usage(), "[DONE]"]
    for stream in (True, False):
        web.client.post("/ask", json={"question": question, "stream": stream})
    web.engine.script = [piece(CANARIES["answer"]), {"error": {"message": "out of memory"}}]
    web.ask(question)
    web.client.post("/ask", json={"question": question, "policy": CANARIES["question"]})
    web.client.post("/ask", content=f'{{"question": "{CANARIES["question"]}')
    web.client.get("/documents", params={"q": CANARIES["query"], "after": CANARIES["cursor"]})
    web.client.get("/status", headers={"Authorization": f"Bearer {CANARIES['key']}"})
    web.client.post("/documents/urls", json={"urls": [f"https://x.example/?token={CANARIES['key']}"]})
    monkeypatch.setattr(web.services.catalog, "chunks_by_id", lambda *_args, **_more: 1 / 0)
    web.ask(question)
    web.client.delete(f"/documents/{document_id}")
    web.settle()
    assert len(accesses(log)) > 8
    assert {kind: text for kind, text in CANARIES.items() if text in log.getvalue()} == {}
