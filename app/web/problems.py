"""One shape for every error: RFC 9457 problem objects, `application/problem+json`."""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from app.core.errors import PrereadError, Unavailable
from app.web.schemas.problem import Problem

log = logging.getLogger(__name__)

_CODES = {401: "unauthenticated", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


class ProblemResponse(JSONResponse):
    media_type = "application/problem+json"


class DatabaseUnavailable(Unavailable):
    code = "database_unavailable"


def problem_of(error: Exception, instance: str) -> Problem:
    """What a client is told of `error`; `instance` names the request. An unexpected error says nothing of itself."""
    if isinstance(error, OperationalError):
        error = DatabaseUnavailable("The database does not answer.", "The log of the web process has the details.")
    if isinstance(error, PrereadError):
        return _problem(error.status, error.code, error.message, error.hint, instance)
    message, hint = "Something went wrong inside Preread.", "The log of the web process has the details."
    return _problem(500, "internal_error", message, hint, instance)


def install_problems(app: FastAPI) -> None:
    app.add_exception_handler(PrereadError, _on_error)
    app.add_exception_handler(OperationalError, _on_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(Exception, _on_unexpected)


def _problem(status: int, code: str, detail: str, hint: str, instance: str) -> Problem:
    return Problem(
        type=f"urn:preread:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        hint=hint,
        instance=instance,
    )


def respond(problem: Problem, headers: Any = None) -> ProblemResponse:
    return ProblemResponse(problem.model_dump(), status_code=problem.status, headers=headers)


async def _on_error(request: Request, error: Exception) -> ProblemResponse:
    problem = problem_of(error, request.url.path)
    if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("%s %s: %s", request.method, request.url.path, error)
    return respond(problem, getattr(error, "headers", None))


async def _on_http_exception(request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "http_error")
    detail = f"There is nothing at {request.url.path}." if error.status_code == HTTPStatus.NOT_FOUND else error.detail
    return respond(_problem(error.status_code, code, detail, "", request.url.path), error.headers)


async def _on_validation(request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, RequestValidationError)
    faults = [f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors()]
    return respond(
        _problem(422, "bad_input", "; ".join(faults), "The API's schema is at /openapi.json.", request.url.path)
    )


async def _on_unexpected(request: Request, error: Exception) -> ProblemResponse:
    # Starlette raises it again afterwards, and the server logs it.
    return respond(problem_of(error, request.url.path))
