"""A chat completion and its models as /openapi.json and docs/api.md show them."""

from pydantic import JsonValue

from app.web.schemas.ask_examples import REQUEST_ID

_URL = "http://localhost:8100/documents/doc_4x0kq3m8w2v9c7n5b1hz/text#10-54"

COMPLETION: dict[str, JsonValue] = {
    "id": REQUEST_ID,
    "object": "chat.completion",
    "created": 1_772_443_812,
    "model": "preread",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": f"It is 45 euros a day [1].\n\nSources:\n[1] Travel: {_URL}",
                "refusal": None,
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {"url": _URL, "title": "Travel", "start_index": 21, "end_index": 24},
                    }
                ],
            },
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 612,
        "completion_tokens": 11,
        "total_tokens": 623,
        "prompt_tokens_details": {"cached_tokens": 552},
    },
}
MODEL: dict[str, JsonValue] = {"id": "preread", "object": "model", "created": 1_764_547_200, "owned_by": "preread"}
ERROR: dict[str, JsonValue] = {
    "error": {
        "message": "There is no model 'gpt-5'. There are: preread, preread:exact.",
        "type": "not_found_error",
        "param": "model",
        "code": "model_not_found",
    }
}
