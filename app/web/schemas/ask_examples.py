"""An answer as /openapi.json and docs/api.md show it, whole and as a stream."""

import json

from pydantic import JsonValue

_QUOTE = "The travel meal allowance is 45 euros a day."
_PASSAGE: dict[str, JsonValue] = {
    "n": 1,
    "document_id": "doc_4x0kq3m8w2v9c7n5b1hz",
    "title": "Travel",
    "page": None,
    "chunk_id": "chk_2m6t8r1x5d0s7f4g9k3w",
}
REQUEST_ID = "req_9c7n5b1hz4x0kq3m8w2v"

ANSWER: dict[str, JsonValue] = {
    "request_id": REQUEST_ID,
    "answer": "It is 45 euros a day [1].",
    "status": "answered",
    "citations": [{**_PASSAGE, "start": 10, "end": 54, "quote": _QUOTE, "score": 0.71}],
    "usage": {
        "prompt_tokens": 612,
        "completion_tokens": 11,
        "reused_tokens": 508,
        "fresh_tokens": 41,
        "prefix_tokens": 44,
    },
    "timings": {
        "retrieval_ms": 12.1,
        "load_ms": 18.4,
        "select_ms": 6.0,
        "recompute_ms": 31.7,
        "ttft_ms": 92.5,
        "total_ms": 301.2,
    },
    "cache": {"chunks": 1, "hits": 1, "misses": []},
    "model": "smollm2-135m-instruct",
    "policy": "impact@.08",
    "fusion": {"used": True, "reason": None},
}
_EVENTS: list[tuple[str, dict[str, JsonValue]]] = [
    ("meta", {"request_id": REQUEST_ID, "model": "smollm2-135m-instruct", "policy": "impact@.08"}),
    (
        "sources",
        {"passages": [{**_PASSAGE, "name": "travel.md", "score": 0.71, "text": _QUOTE}], "retrieval_ms": 12.1},
    ),
    ("delta", {"text": "It is 45 euros"}),
    ("delta", {"text": " a day [1]."}),
    ("done", ANSWER),
]
STREAM_EXAMPLE = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in _EVENTS)
