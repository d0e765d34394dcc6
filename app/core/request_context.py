"""Which request is being served, for log lines, problems, the engine and workers. It follows into threads and tasks."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeGuard

from app.core.access import Principal
from app.core.stages import Stage, Stages

REQUEST_ID_HEADER = "X-Request-ID"
TRACE_HEADERS = ("traceparent", "tracestate")

_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}")


@dataclass
class RequestContext:
    """One object for all threads and tasks of a request: what one of them learns, all log lines after it have.

    `trace` holds the W3C headers of the span that what is asked of others belongs to; `stages` is None where nobody
    traces the request.
    """

    request_id: str
    principal: Principal | None = None
    trace: dict[str, str] = field(default_factory=dict)
    stages: Stages | None = None


_current: ContextVar[RequestContext | None] = ContextVar("preread_request", default=None)


def current_request() -> RequestContext | None:
    return _current.get()


def current_request_id() -> str | None:
    context = _current.get()
    return context.request_id if context else None


@contextmanager
def stage(name: str) -> Iterator[None]:
    """What is done in the block is a stage of the request, if it is traced."""
    request = _current.get()
    if request is None or request.stages is None:
        yield
        return
    began = time.time_ns()
    try:
        yield
    finally:
        request.stages.spans.append(Stage(name, began, time.time_ns()))


def enter_request(context: RequestContext | None) -> None:
    """From here on this is the request, in this thread or task and in those that begin in it; None: none is."""
    _current.set(context)


def is_sane_request_id(sent: object) -> TypeGuard[str]:
    """Whether it can stand in a log and a header."""
    return isinstance(sent, str) and _SANE.fullmatch(sent) is not None


def outgoing_headers() -> Mapping[str, str]:
    """What a service that is asked on behalf of the request is to know of it."""
    context = _current.get()
    return {REQUEST_ID_HEADER: context.request_id, **context.trace} if context else {}


__all__ = [
    "REQUEST_ID_HEADER",
    "TRACE_HEADERS",
    "RequestContext",
    "current_request",
    "current_request_id",
    "enter_request",
    "is_sane_request_id",
    "outgoing_headers",
    "stage",
]
