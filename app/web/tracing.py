"""OpenTelemetry traces of answers, where a collector is set: one span for the request, one for each of its stages.

OpenTelemetry's SDK is loaded only then. Spans have names, times, counts and ids, never a text.
"""

from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.request_context import current_request
from app.core.settings import Settings
from app.core.stages import Stages

if TYPE_CHECKING:
    from app.web.traces import Traces

_ANSWERS = frozenset({"/ask", "/v1/chat/completions"})


def open_traces(settings: Settings) -> "Traces | None":
    """None: no collector is set."""
    if not settings.otlp_endpoint:
        return None
    from app.web.traces import Traces

    return Traces(settings.otlp_endpoint)


class Tracing:
    """Notes the stages of requests for answers, and hands them on when the answer has ended, however it ended."""

    def __init__(self, app: ASGIApp, traces: "Traces") -> None:
        self._app = app
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = current_request()
        if request is None or scope["type"] != "http" or scope["path"] not in _ANSWERS:
            await self._app(scope, receive, send)
            return
        span = self._traces.begin("ask", request.trace)
        request.trace = self._traces.headers(span)
        request.stages = Stages(facts={"preread.request_id": request.request_id})

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and request.stages is not None:
                request.stages.facts["http.response.status_code"] = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._traces.end(span, request.stages)
