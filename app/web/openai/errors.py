"""Errors as OpenAI's clients expect them, on the routes under `/v1` alone."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.core.codes import Code
from app.core.errors import PrereadError
from app.web.http_errors import error_of, misread
from app.web.leaving import ClientLeft
from app.web.problems import problem_of
from app.web.schemas.openai import OpenAIError, OpenAIErrorBody
from app.web.schemas.problem import Problem

log = logging.getLogger(__name__)

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_CODES = {
    "question_too_long": "context_length_exceeded",
    "bad_input": "invalid_value",
    "unknown_model": "model_not_found",
}


class BadChatRequest(PrereadError):
    """`param` is the field at fault."""

    code = Code.INVALID_VALUE
    status = 400

    def __init__(self, param: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.param = param


class UnsupportedParameter(BadChatRequest):
    code = Code.UNSUPPORTED_PARAMETER


class ModelNotFound(BadChatRequest):
    code = Code.UNKNOWN_MODEL
    status = 404


class OpenAIRoute(APIRoute):
    """A route all of whose errors have OpenAI's shape, those of its dependencies included."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except HTTPException as refusal:
                found, headers = error_of(request, refusal)
                return problem_response(problem_of(found, request.url.path), headers=headers)
            except RequestValidationError as error:
                if (refused := misread(request, error)) is not None:
                    return problem_response(problem_of(refused, request.url.path))
                fault = error.errors()[0]
                param = ".".join(str(part) for part in fault["loc"][1:]) or None
                return _response(400, openai_error(400, "invalid_value", f"{param}: {fault['msg']}", param))
            except PrereadError as error:
                param = error.param if isinstance(error, BadChatRequest) else None
                return problem_response(_logged(error, request), param, error.headers)
            except OperationalError as error:
                return problem_response(_logged(error, request))
            except ClientLeft:
                raise
            except Exception as error:
                log.exception("%s failed", request.url.path)
                return problem_response(problem_of(error, request.url.path))

        return handled


def _logged(error: Exception, request: Request) -> Problem:
    problem = problem_of(error, request.url.path)
    if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("%s: %s", problem.code, error)
    return problem


def problem_response(
    problem: Problem, param: str | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """With `Retry-After` where the problem knows it."""
    retry_after = problem.retry_after_seconds
    extra = {"Retry-After": str(retry_after)} if retry_after is not None else {}
    return _response(openai_status(problem.status), error_of_problem(problem, param), {**(headers or {}), **extra})


def error_of_problem(problem: Problem, param: str | None = None) -> OpenAIError:
    message = f"{problem.detail} {problem.hint}".strip()
    return openai_error(openai_status(problem.status), openai_code(problem.code), message, param)


def openai_error(status: int, code: str | None, message: str, param: str | None = None) -> OpenAIError:
    server = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    kind = _TYPES.get(status, server)
    return OpenAIError(error=OpenAIErrorBody(message=message, type=kind, param=param, code=code))


def openai_status(status: int) -> int:
    """What cannot be used is 400 there, not 422."""
    return 400 if status == HTTPStatus.UNPROCESSABLE_ENTITY else status


def openai_code(code: str) -> str:
    """What OpenAI calls it, where it has a name for it."""
    return _CODES.get(code, code)


def _response(status: int, error: OpenAIError, headers: Any = None) -> JSONResponse:
    return JSONResponse(error.body(), status_code=status, headers=headers)
