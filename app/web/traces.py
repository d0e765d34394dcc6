"""Spans on their way to an OpenTelemetry collector. Importing this loads OpenTelemetry's SDK."""

import logging
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.core.stages import Stages

log = logging.getLogger(__name__)

_PARENTS = {"embed": "retrieve", "search": "retrieve", "rerank": "retrieve"}
_EXPORT_SECONDS = 5
_SERVER_ERROR = 500


class Traces:
    """`endpoint`: of a collector that takes OTLP over HTTP, such as http://localhost:4318."""

    def __init__(self, endpoint: str) -> None:
        resource = Resource.create({"service.name": "preread-web", "service.version": version("preread")})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=_EXPORT_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(WarningOnce(exporter, endpoint)))
        self._tracer = self._provider.get_tracer("preread")
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, name: str, trace: Mapping[str, str]) -> Span:
        """`trace`: the W3C headers that came with the request, if any did."""
        return self._tracer.start_span(name, self._propagator.extract(trace), SpanKind.SERVER)

    def headers(self, span: Span) -> dict[str, str]:
        """The W3C headers for what is asked of others within the span."""
        headers: dict[str, str] = {}
        self._propagator.inject(headers, set_span_in_context(span))
        return headers

    def end(self, span: Span, stages: Stages) -> None:
        """Close the span, with one in it for each stage. Never raises, never waits for the collector."""
        span.set_attributes(stages.facts)
        status = int(stages.facts.get("http.response.status_code", _SERVER_ERROR))
        if status >= _SERVER_ERROR or "preread.code" in stages.facts:
            span.set_status(StatusCode.ERROR)
        for name, moment in stages.moments:
            span.add_event(name, timestamp=moment)
        made = {"": span}
        for stage in sorted(stages.spans, key=lambda stage: stage.name in _PARENTS):
            parent = made.get(_PARENTS.get(stage.name, ""), span)
            made[stage.name] = self._tracer.start_span(
                stage.name, set_span_in_context(parent), start_time=stage.began
            )
            made[stage.name].end(stage.ended)
        span.end()

    def close(self) -> None:
        """Hand on what is left. Blocking, for seconds where the collector does not answer."""
        self._provider.shutdown()


class WarningOnce(SpanExporter):
    """One warning when the collector stops taking spans, in place of the exporter's one for each try."""

    def __init__(self, behind: SpanExporter, endpoint: str) -> None:
        logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
        self._behind = behind
        self._endpoint = endpoint
        self._failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._behind.export(spans)
        failing = result is not SpanExportResult.SUCCESS
        if failing and not self._failing:
            log.warning("the collector at %s takes no spans; they are lost until it does", self._endpoint)
        self._failing = failing
        return result

    def shutdown(self) -> None:
        self._behind.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._behind.force_flush(timeout_millis)


__all__ = ["Traces", "WarningOnce"]
