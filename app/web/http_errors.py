"""What is wrong with a request before any of ours has seen it.

PrereadError
├── BadRequest               400  it cannot be parsed as HTTP
├── MalformedBody            400  the body is not what its content type says
├── MethodNotAllowed         405  the path is there, but not for this method
├── BodyTooLarge             413  the body is larger than this route takes
├── UnsupportedMediaType     415  the route does not take this content type
└── HttpError                any other refusal of the framework's
"""

from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Mount, Route

from app.core.codes import Code
from app.core.errors import NotFound, PrereadError

_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


class BadRequest(PrereadError):
    code = Code.BAD_REQUEST
    status = 400


class MalformedBody(PrereadError):
    code = Code.MALFORMED_BODY
    status = 400


class MethodNotAllowed(PrereadError):
    code = Code.METHOD_NOT_ALLOWED
    status = 405


class BodyTooLarge(PrereadError):
    code = Code.BODY_TOO_LARGE
    status = 413


class UnsupportedMediaType(PrereadError):
    code = Code.UNSUPPORTED_MEDIA_TYPE
    status = 415


class HttpError(PrereadError):
    """`status` is that of the refusal."""

    code = Code.HTTP_ERROR

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def error_of(request: Request, refusal: HTTPException) -> tuple[PrereadError, dict[str, str]]:
    """What the framework's refusal is among ours, and the headers that belong to it."""
    headers = dict(refusal.headers or {})
    path = request.url.path
    if isinstance(refusal.__cause__, PrereadError):  # ours, in the one disguise that comes through a body's reading
        return refusal.__cause__, headers
    match refusal.status_code:
        case HTTPStatus.BAD_REQUEST:
            return MalformedBody(str(refusal.detail), "Send whole JSON in UTF-8, or a whole multipart form."), headers
        case HTTPStatus.NOT_FOUND:
            return NotFound(f"There is nothing at {path}.", "The API's paths are in /openapi.json."), headers
        case HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = ", ".join(sorted(_methods(request)))
            return MethodNotAllowed(f"{path} takes {allowed}, not {request.method}."), headers | {"Allow": allowed}
        case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return BodyTooLarge(str(refusal.detail), "Send less at once."), headers
    return HttpError(refusal.status_code, str(refusal.detail)), headers


def misread(request: Request, error: RequestValidationError) -> PrereadError | None:
    """Where nothing is wrong with the fields, but the body could not be read as what the route takes."""
    faults = error.errors()
    if any(fault["type"] == "json_invalid" for fault in faults):
        reason = next(fault["ctx"]["error"] for fault in faults if fault["type"] == "json_invalid")
        return MalformedBody(f"The body is not JSON: {reason}.", "Send whole JSON in UTF-8.")
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body: Any = error.body
    if isinstance(body, bytes) and body:
        return UnsupportedMediaType(
            f"The body is of the type “{content_type or 'none'}”.", "Send it as application/json."
        )
    if isinstance(body, FormData) and content_type and content_type not in _FORMS:
        return UnsupportedMediaType(f"The body is of the type “{content_type}”.", "Send it as multipart/form-data.")
    return None


def _methods(request: Request) -> set[str]:
    """All that routes of the request's path take, not only the first of them; a word goes before a parameter."""
    routes: list[BaseRoute] = request.app.routes
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    if any(isinstance(route, Mount) for route in matching):
        return {"GET", "HEAD"}
    found = [route for route in matching if isinstance(route, Route)]
    path = min((route.path for route in found), key=lambda path: path.count("{"), default="")
    return {method for route in found if route.path == path for method in route.methods or ()}
