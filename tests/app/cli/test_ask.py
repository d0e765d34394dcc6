import json
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli.main import cli
from app.core.settings import get_settings
from app.web.schemas.ask import AnswerOut

CITATION = {
    "n": 1, "document_id": "doc_1", "title": "Travel", "page": None, "chunk_id": "chk_1",
    "start": 0, "end": 9, "quote": "The allowance is 45 euros.", "score": 0.7,
}  # fmt: skip
ANSWER = {
    "request_id": "req_1",
    "answer": "It is 45 euros [1].",
    "status": "answered",
    "citations": [CITATION],
    "usage": {
        "prompt_tokens": 900, "completion_tokens": 8, "reused_tokens": 800, "fresh_tokens": 32, "prefix_tokens": 0,
    },
    "timings": {
        "retrieval_ms": 9, "load_ms": 1, "select_ms": None, "recompute_ms": 2, "ttft_ms": 400, "total_ms": 900,
    },
    "cache": {"chunks": 3, "hits": 3, "misses": []},
    "model": "tiny",
    "policy": "head@16",
    "fusion": {"used": True, "reason": None},
}  # fmt: skip


def stream(*events: tuple[str, Any]) -> bytes:
    return "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events).encode()


@pytest.fixture
def ask(own_state, server, monkeypatch):
    monkeypatch.setenv("PREREAD_WEB_URL", f"http://127.0.0.1:{server.server_port}")
    get_settings.cache_clear()
    server.answer = 200, "application/json", json.dumps(ANSWER).encode()
    return lambda *options: CliRunner().invoke(cli, ["ask", "What is the allowance?", *options])


def test_an_answer_streams_and_ends_with_its_citations_and_the_cache_line(ask, server) -> None:
    pieces = [("delta", {"text": "It is 45 "}), ("delta", {"text": "euros [1]."})]
    server.answer = 200, "text/event-stream", stream(("meta", {}), *pieces, ("done", ANSWER))
    result = ask("--policy", "none")
    assert result.stdout.splitlines() == [
        "It is 45 euros [1].",
        "  [1] Travel: “The allowance is 45 euros.”",
        "3 of 3 chunks from cache, first token after 0.40 s",
    ]
    assert json.loads(server.asked[0][1])["policy"] == "none"


def test_an_answer_without_the_model_is_shown_too(ask, server) -> None:
    nothing = {**ANSWER, "answer": "Not in the documents.", "status": "no_answer", "citations": []}
    nothing["cache"] = {"chunks": 0, "hits": 0, "misses": []}
    server.answer = 200, "text/event-stream", stream(("meta", {}), ("done", nothing))
    assert ask().stdout.splitlines()[0] == "Not in the documents."


def test_json_is_the_whole_answer(ask) -> None:
    told = json.loads(ask("--json").stdout)
    assert told.items() >= ANSWER.items()
    assert told.keys() == AnswerOut.model_fields.keys()


def test_comparing_asks_exactly_then_fused(ask, server) -> None:
    result = ask("--compare", "--json")
    told = json.loads(result.stdout)
    assert told["same_words"] is True
    assert told["exact"].items() >= ANSWER.items()
    assert told["fused"].items() >= ANSWER.items()
    assert [json.loads(body)["cache"] for _, body in server.asked] == ["off", "auto"]
    assert "both answers have the same words" in ask("--compare").stdout
