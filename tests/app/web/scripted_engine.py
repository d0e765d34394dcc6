"""A real HTTP server in place of the engine, which misbehaves as a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FINGERPRINT = "cd" * 32


def piece(text: str, finish_reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"text": text, "finish_reason": finish_reason}]}


def usage(prompt_tokens: int = 100, completion_tokens: int = 2) -> dict[str, Any]:
    return {
        "choices": [],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens},
    }


WELL: list[Any] = [piece("Forty"), piece(" euros."), piece("", "stop"), usage(), "[DONE]"]


class ScriptedEngine:
    """`script` is what a completion sends, event by event; a callable in it is called in its turn (None: hang up).

    `running` completions are being sent now, `completions` were asked for.
    """

    def __init__(self) -> None:
        self._counting = threading.Lock()
        self.running = 0
        self.behave()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def behave(self) -> None:
        """Forget what earlier tests wanted."""
        self.script: list[dict[str, Any] | str | Callable[[], None] | None] = list(WELL)
        self.refusal: int | None = None
        self.tiers: list[tuple[str | None, str | None]] = []
        self.not_fused: str | None = None
        self.completions: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.left = threading.Event()
        self.max_model_tokens = 4096

    def count(self, more: int) -> None:
        with self._counting:
            self.running += more

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def status(self) -> dict[str, Any]:
        return {
            "model": "scripted",
            "fingerprint": FINGERPRINT,
            "dtype": "bfloat16",
            "max_model_tokens": self.max_model_tokens,
            "fusion": self.not_fused is None,
            "fusion_reason": self.not_fused,
        }

    def report(self, request_id: str) -> dict[str, Any] | None:
        params = next(
            (
                body["kv_transfer_params"]["preread"]
                for body in self.completions
                if body["kv_transfer_params"]["preread"]["request_id"] == request_id
            ),
            None,
        )
        if params is None:
            return None
        chunks = [segment for segment in params["segments"] if segment[2] == "chunk"]
        outcomes = self.tiers or [(None, "absent")] * len(chunks)
        tokens = [end - start for start, end, *_ in chunks]
        reused = sum(n for n, (tier, _) in zip(tokens, outcomes, strict=True) if tier)
        context = params["segments"][-1][1]
        return {
            "request_id": request_id,
            "policy": params["policy"],
            "context_tokens": context,
            "reused_tokens": reused,
            "fresh_tokens": context - reused,
            "prefix_tokens": 0,
            "load_s": 0.01,
            "select_s": 0.0,
            "recompute_s": 0.02,
            "chunks": [
                {"ordinal": i, "n_tokens": n, "tier": tier, "reason": reason}
                for i, (n, (tier, reason)) in enumerate(zip(tokens, outcomes, strict=True))
            ],
            "not_fused": self.not_fused,
        }

    def events(self) -> Iterator[bytes | None]:
        for step in self.script:
            if step is None:
                yield None
            elif callable(step):
                step()
            else:
                yield f"data: {step if isinstance(step, str) else json.dumps(step)}\n\n".encode()

    def _handler(self) -> type["_Handler"]:
        return type("Handler", (_Handler,), {"engine": self})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: ScriptedEngine

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        if self.path == "/preread/status":
            self._json(200, self.engine.status())
            return
        report = self.engine.report(self.path.rsplit("/", 1)[1])
        self._json(200 if report else 404, report or {"detail": "no report"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/completions":
            self._json(200, {})
            return
        self.engine.headers.append(self.headers)
        self.engine.completions.append(body)
        if self.engine.refusal is not None:
            self._json(self.engine.refusal, {"error": {"message": "refused"}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        self.engine.count(1)
        try:
            self._stream()
        except (BrokenPipeError, ConnectionResetError):
            self.engine.left.set()
        finally:
            self.engine.count(-1)

    def _stream(self) -> None:
        for event in self.engine.events():
            if event is None:
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _json(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
