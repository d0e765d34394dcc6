"""Traces of answers, as a real collector receives them."""

import gzip
import http.server
import logging
import subprocess
import sys
import threading

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SpanExportResult
from scripted_engine import piece
from served_web import web_served
from web_harness import DEADLINE_SECONDS, PAGES, Web, wait_until

from app.web.main import create_app
from app.web.traces import WarningOnce

QUESTION = "What is the travel meal allowance?"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector:
    """Takes OTLP over HTTP."""

    def __init__(self):
        self.spans = []
        self.service = None
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    collector.service = {each.key: each.value.string_value for each in resource.resource.attributes}
                    for scope in resource.scope_spans:
                        collector.spans.extend(scope.spans)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                """Quiet."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def trace(self, names):
        """The next trace, once it is whole."""
        wait_until(lambda: names <= {span.name for span in self.spans}, f"{names} have come")
        spans, self.spans = self.spans, []
        assert len({span.trace_id for span in spans}) == 1
        return {span.name: span for span in spans}


@pytest.fixture(scope="module")
def collector():
    collector = Collector()
    yield collector
    collector.server.shutdown()


@pytest.fixture(scope="module")
def traced_web(engine, collector, shared_web, tmp_path_factory):
    settings = shared_web.services.settings.model_copy(
        update={"state_dir": tmp_path_factory.mktemp("traced"), "otlp_endpoint": collector.url}
    )
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        app = create_app(settings)
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        web = Web(client, app.state.services, server, engine)
        for name, text in PAGES.items():
            web.add(name, text)
        yield web


@pytest.fixture
def traced(traced_web, collector):
    traced_web.engine.behave()
    traced_web.settle()
    collector.spans = []
    return traced_web


def facts(span):
    kinds = {each.key: each.value for each in span.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in kinds.items()}


def ask(web, **headers):
    return web.client.post("/ask", json={"question": QUESTION, "stream": True}, headers=headers)


STAGES = {"ask", "retrieve", "embed", "search", "load", "recompute", "generate"}


def test_an_answer_is_a_trace_of_its_stages(traced, collector):
    traced.engine.tiers = [("disk", None), (None, "absent")]
    ask(traced, **{"X-Request-ID": "traced-1"})
    spans = collector.trace(STAGES)
    assert spans.keys() == {*STAGES, "rerank"}
    parents = {name: {s.span_id: n for n, s in spans.items()}.get(span.parent_span_id) for name, span in spans.items()}
    assert parents == {
        "ask": None, "retrieve": "ask", "embed": "retrieve", "search": "retrieve", "rerank": "retrieve",
        "load": "ask", "recompute": "ask", "generate": "ask",
    }  # fmt: skip
    for name, span in spans.items():
        assert span.start_time_unix_nano <= span.end_time_unix_nano, name
        if name != "ask":
            assert spans["ask"].end_time_unix_nano >= span.end_time_unix_nano
    (first,) = spans["ask"].events
    assert first.name == "first token"
    assert spans["load"].end_time_unix_nano == spans["recompute"].start_time_unix_nano
    assert spans["recompute"].end_time_unix_nano == first.time_unix_nano
    assert spans["recompute"].end_time_unix_nano - spans["recompute"].start_time_unix_nano == 20_000_000
    found = facts(spans["ask"])
    assert found.items() >= {
        "preread.request_id": "traced-1", "preread.tenant": "default", "preread.chunks": 2, "preread.hits": 1,
        "preread.status": "answered", "http.response.status_code": 200,
    }.items()  # fmt: skip
    assert found["preread.tokens.reused"] > 0
    assert found["preread.tokens.fresh"] > 0
    assert collector.service["service.name"] == "preread-web"
    assert QUESTION not in str(spans)


def test_a_callers_trace_goes_on_here_and_in_the_engine(traced, collector):
    ask(traced, traceparent=CALLER)
    span = collector.trace({"ask", "generate"})["ask"]
    _, trace_id, parent_id, _ = CALLER.split("-")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (trace_id, parent_id)
    assert traced.engine.headers[0]["traceparent"] == f"00-{trace_id}-{span.span_id.hex()}-01"


def test_an_answer_that_breaks_off_is_an_error(traced, collector):
    traced.engine.script = [piece("Forty"), None]
    ask(traced)
    span = collector.trace({"ask", "generate"})["ask"]
    assert facts(span)["preread.code"] == "engine_failed"
    assert span.status.code == 2


def test_a_question_that_is_refused_is_a_trace_without_an_answer(traced, collector):
    traced.client.post("/ask", json={"question": QUESTION, "policy": "magic"})
    assert facts(collector.trace({"ask"})["ask"])["http.response.status_code"] == 422


def test_nothing_else_is_traced(traced, collector):
    traced.client.get("/documents")
    ask(traced)
    assert {"ask"} <= collector.trace({"ask", "generate"}).keys()


def test_without_a_collector_the_engine_is_sent_the_callers_trace(web):
    ask(web, traceparent=CALLER)
    assert web.engine.headers[0]["traceparent"] == CALLER


def test_without_a_collector_opentelemetrys_sdk_is_not_loaded():
    code = """
import sys
from pathlib import Path
from app.core.settings import Settings
from app.web.main import create_app
create_app(Settings(_env_file=None, state_dir=Path("unused")))
assert "app.web.traces" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_collector_that_is_away_is_one_warning_until_it_is_back(caplog):
    class Behind:
        result = SpanExportResult.FAILURE

        def export(self, _spans):
            return self.result

    behind = Behind()
    exporter = WarningOnce(behind, "http://collector:4318")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            exporter.export([])
        assert len(caplog.records) == 1
        behind.result = SpanExportResult.SUCCESS
        exporter.export([])
        behind.result = SpanExportResult.FAILURE
        exporter.export([])
    assert [record.getMessage() for record in caplog.records] == [
        "the collector at http://collector:4318 takes no spans; they are lost until it does"
    ] * 2


def test_answers_go_on_while_the_collector_is_away(engine, shared_web):
    settings = shared_web.services.settings.model_copy(
        update={"otlp_endpoint": "http://127.0.0.1:9", "index_url": str(shared_web.client.base_url).rstrip("/")}
    )
    app = create_app(settings)
    engine.behave()
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        web = Web(client, app.state.services, server, engine)
        for _ in range(3):
            assert web.ask(QUESTION).json()["status"] == "answered"
