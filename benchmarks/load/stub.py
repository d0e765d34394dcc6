"""An engine that answers at once, for measuring everything but the engine: `python -m benchmarks.load.stub PORT`.

It speaks what web asks an engine, has every chunk in its disk tier, and says the same words to everybody. It keeps how
long each request took it. Told to, it stops after the first word until it is told to go on, which keeps streams open.
"""

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send

from generator.engine import EngineStatus

WORDS = ("The", " allowance", " is", " 45", " euros", " a", " day", " [1].")
SEEN_PATH, HOLD_PATH, RELEASE_PATH = "/stub/seen", "/stub/hold", "/stub/release"
FINGERPRINT = "5b" * 32


class Stub:
    """`seconds`: of each request that ended, by its id. `held`: streams that wait to go on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.held = 0
        self._reports: dict[str, dict[str, Any]] = {}
        self._go_on = asyncio.Event()
        self._go_on.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == "/v1/completions":
            await self._complete(json.loads(await _body(receive)), send)
        elif path == "/preread/status":
            status = EngineStatus("stub", FINGERPRINT, "none", 8192, fusion=True, fusion_reason=None)
            await _json(send, asdict(status))
        elif path.startswith("/preread/reports/"):
            await _json(send, self._reports.pop(path.rpartition("/")[2]))
        elif path == SEEN_PATH:
            await _json(send, {"seconds": self.seconds, "held": self.held})
        else:
            if path == HOLD_PATH:
                self._go_on.clear()
            elif path == RELEASE_PATH:
                self._go_on.set()
            await _json(send, {})

    async def _complete(self, body: Mapping[str, Any], send: Send) -> None:
        began = time.perf_counter()
        asked = body["kv_transfer_params"]["preread"]
        self._reports[asked["request_id"]] = _report(asked)
        await _start(send, "text/event-stream")
        for number, word in enumerate(WORDS):
            await _event(send, {"choices": [{"text": word, "finish_reason": None}]})
            if number == 0:
                await self._hold()
        await _event(send, {"choices": [{"text": "", "finish_reason": "stop"}]})
        usage = {"prompt_tokens": len(body["prompt"]), "completion_tokens": len(WORDS)}
        await _event(send, {"choices": [], "usage": usage})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": False})
        self.seconds[asked["request_id"]] = time.perf_counter() - began

    async def _hold(self) -> None:
        if not self._go_on.is_set():
            self.held += 1
            await self._go_on.wait()
            self.held -= 1


def _report(asked: Mapping[str, Any]) -> dict[str, Any]:
    """All chunks were hits."""
    segments = asked["segments"]
    tokens = [end - start for start, end, kind, *_ in segments if kind == "chunk"]
    context = segments[-1][1]
    return {
        "request_id": asked["request_id"],
        "policy": asked["policy"],
        "context_tokens": context,
        "reused_tokens": sum(tokens),
        "fresh_tokens": context - sum(tokens),
        "chunks": [{"ordinal": place, "n_tokens": n, "tier": "disk"} for place, n in enumerate(tokens)],
    }


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _start(send: Send, media_type: str) -> None:
    headers = [(b"content-type", media_type.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _event(send: Send, event: Mapping[str, Any]) -> None:
    body = b"data: " + json.dumps(event).encode() + b"\n\n"
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _json(send: Send, body: Mapping[str, Any]) -> None:
    await _start(send, "application/json")
    await send({"type": "http.response.body", "body": json.dumps(body).encode(), "more_body": False})


if __name__ == "__main__":
    uvicorn.run(Stub(), port=int(sys.argv[1]), log_level="warning", access_log=False, lifespan="off")
