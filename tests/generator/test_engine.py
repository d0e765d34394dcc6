"""The engine's client against an engine that misbehaves, and the salts that keep fused KV apart."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from generator.engine import Delta, EngineClient, Finished, Sampling, cache_salt
from generator.errors import CaptureFailed, EngineFailed, EngineUnavailable
from generator.fusion_request import FusionRequest, Segment, SegmentKind
from kvstore.key import Reading

REQUEST = FusionRequest("ask_1", "default", "head@16", (Segment(0, 3, SegmentKind.PREAMBLE),))
SAMPLING = Sampling(max_tokens=4)


class Scripted(ThreadingHTTPServer):
    """Answers every request with `status` and `body`."""

    status = 200
    body = b""


@pytest.fixture
def engine() -> Iterator[Scripted]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(self.server.status)  # type: ignore[attr-defined]
            self.end_headers()
            self.wfile.write(self.server.body)  # type: ignore[attr-defined]

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = Scripted(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def client_of(server: Scripted) -> EngineClient:
    return EngineClient(f"http://127.0.0.1:{server.server_address[1]}")


def stream(*events: dict[str, object]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


async def answer(server: Scripted) -> list[Delta | Finished]:
    client = client_of(server)
    try:
        return [event async for event in client.generate([1, 2, 3], REQUEST, SAMPLING)]
    finally:
        await client.aclose()


CHOICE = {"choices": [{"text": "Yes", "finish_reason": None}]}
LAST = {"choices": [{"text": ".", "finish_reason": "stop"}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


async def test_an_answer_is_its_deltas_and_then_how_it_finished(engine: Scripted) -> None:
    engine.body = stream(CHOICE, LAST, USAGE)
    assert await answer(engine) == [Delta("Yes"), Delta("."), Finished("stop", 3, 2)]


async def test_a_stream_that_just_ends_is_a_failure(engine: Scripted) -> None:
    engine.body = stream(CHOICE)
    with pytest.raises(EngineFailed, match="without finishing"):
        await answer(engine)


async def test_an_error_inside_the_stream_is_a_failure_with_its_words(engine: Scripted) -> None:
    engine.body = stream(CHOICE, {"error": {"message": "out of cheese"}})
    with pytest.raises(EngineFailed, match="out of cheese"):
        await answer(engine)


async def test_a_refused_request_is_a_failure_with_its_status(engine: Scripted) -> None:
    engine.status, engine.body = 400, b"too long"
    with pytest.raises(EngineFailed, match="400: too long"):
        await answer(engine)


def test_an_engine_that_is_loading_is_unavailable(engine: Scripted) -> None:
    engine.status = 503
    with pytest.raises(EngineUnavailable):
        client_of(engine).status()


def test_nothing_listening_is_unavailable_with_the_address() -> None:
    with pytest.raises(EngineUnavailable, match=r"127\.0\.0\.1:9"):
        EngineClient("http://127.0.0.1:9").status()


def test_an_incomplete_capture_is_an_error_with_its_reason(engine: Scripted) -> None:
    engine.body = b'{"problem": "3 of 9 tokens were not computed"}'
    with pytest.raises(CaptureFailed, match="3 of 9"):
        client_of(engine).preread([1, 2, 3], replace(REQUEST, capture=Reading.OPENING))


def test_exact_requests_of_a_tenant_share_a_salt_and_fused_ones_share_none() -> None:
    exact = replace(REQUEST, policy="exact")
    assert cache_salt(exact) == cache_salt(replace(exact, request_id="ask_2"))
    assert cache_salt(exact) != cache_salt(replace(exact, tenant="other"))
    assert cache_salt(REQUEST) != cache_salt(replace(REQUEST, request_id="ask_2"))
    assert cache_salt(REQUEST) != cache_salt(exact)


@pytest.mark.parametrize("change", [{"capture": Reading.OPENING}, {"nested": True}])
def test_exact_requests_that_fill_pages_themselves_have_a_salt_of_their_own(change: dict[str, object]) -> None:
    exact = replace(REQUEST, policy="exact")
    assert cache_salt(replace(exact, **change)) != cache_salt(exact)  # type: ignore[arg-type]
