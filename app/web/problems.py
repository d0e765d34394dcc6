"""One shape for every error: RFC 9457 problem objects, `application/problem+json`."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.catalog import DatabaseUnavailable
from app.core.errors import BadInput, PrereadError
from app.core.request_context import current_request_id
from app.web.http_errors import error_of, misread
from app.web.schemas.problem import Fault, Problem

log = logging.getLogger(__name__)


class ProblemResponse(JSONResponse):
    media_type = "application/problem+json"


class UnexpectedErrors:
    """Whatever nobody expected is a problem too, which tells nothing of itself, and is told in the log.

    Starlette's own handler stands outside of all middlewares: its answers would lack their headers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            if started:
                raise  # the server ends the connection, so that the client sees that something is missing
            log.exception("a request broke off")
            response = respond(problem_of(error, scope["path"]), {"Connection": "close"})
            await response(scope, receive, send)


def problem_of(error: Exception, instance: str, errors: Sequence[Fault] = ()) -> Problem:
    """What a client is told of `error`; `instance` names the request. An unexpected error says nothing of itself."""
    if isinstance(error, OperationalError | DatabaseUnavailable):  # the driver's words name address and user
        error = DatabaseUnavailable("The database does not answer.", "The log of the web process has the details.")
    if not isinstance(error, PrereadError):
        error = PrereadError("Something went wrong inside Preread.", "The log of the web process has the details.")
    return Problem(
        type=f"urn:preread:problem:{error.code}",
        title=HTTPStatus(error.status).phrase,
        status=error.status,
        detail=_legible(error.message),
        code=error.code,
        hint=_legible(error.hint),
        instance=instance,
        request_id=current_request_id(),
        retry_after_seconds=error.retry_after_seconds,
        errors=list(errors),
    )


def install_problems(app: FastAPI) -> None:
    app.add_exception_handler(PrereadError, _on_error)
    app.add_exception_handler(OperationalError, _on_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_middleware(UnexpectedErrors)


def respond(problem: Problem, headers: Mapping[str, str] | None = None) -> ProblemResponse:
    """With `Retry-After` where the problem knows it."""
    retry_after = problem.retry_after_seconds
    extra = {"Retry-After": str(retry_after)} if retry_after is not None else {}
    return ProblemResponse(
        problem.model_dump(mode="json"), status_code=problem.status, headers={**(headers or {}), **extra}
    )


async def _on_error(request: Request, error: Exception) -> ProblemResponse:
    problem = problem_of(error, request.url.path)
    if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("%s: %s", problem.code, error)
    return respond(problem, error.headers if isinstance(error, PrereadError) else None)


async def _on_http_exception(request: Request, refusal: Exception) -> ProblemResponse:
    assert isinstance(refusal, HTTPException)
    error, headers = error_of(request, refusal)
    return respond(problem_of(error, request.url.path), headers)


async def _on_validation(request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, RequestValidationError)
    if (refused := misread(request, error)) is not None:
        return respond(problem_of(refused, request.url.path))
    faults = [Fault(pointer=_pointer(fault["loc"]), message=fault["msg"]) for fault in error.errors()]
    detail = "; ".join(f"{fault.pointer}: {fault.message}" for fault in faults)
    refused = BadInput(detail, "The API's schema is at /openapi.json.")
    return respond(problem_of(refused, request.url.path, faults))


def _pointer(place: Sequence[object]) -> str:
    return _legible("".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place))


def _legible(text: str) -> str:
    """Without lone surrogates, which JSON may carry, messages quote, and UTF-8 has none of."""
    return text.encode(errors="replace").decode()
