"""What /openapi.json says of every route: its errors by their codes, and the headers of every response."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.core.catalog import DatabaseUnavailable, UnstorableText
from app.core.codes import Code
from app.core.errors import BadInput, PrereadError
from app.core.request_context import REQUEST_ID_HEADER
from app.web.access.errors import (
    CsrfRefused,
    Forbidden,
    KeyExpired,
    KeyRevoked,
    RateLimited,
    TooManyAtOnce,
    Unauthenticated,
)
from app.web.access.guard import anyone, guards_of
from app.web.deps import get_known
from app.web.http_errors import BodyTooLarge, MalformedBody, UnsupportedMediaType
from app.web.openai.errors import OpenAIRoute, openai_code, openai_status
from app.web.schemas.ask import DeltaEvent, MetaEvent, SourcesEvent
from app.web.schemas.openai import OpenAIError
from app.web.schemas.problem import Problem

CODES = "x-codes"
PROBLEM_TYPE = "application/problem+json"

ANYWHERE: tuple[type[PrereadError], ...] = (PrereadError,)
GUARDED: tuple[type[PrereadError], ...] = (
    Unauthenticated,
    KeyExpired,
    KeyRevoked,
    CsrfRefused,
    Forbidden,
    RateLimited,
    TooManyAtOnce,
    DatabaseUnavailable,
)
LARGE_FROM_STRANGERS: tuple[type[PrereadError], ...] = (Unauthenticated, KeyExpired, KeyRevoked, CsrfRefused)
WITH_PARAMETERS: tuple[type[PrereadError], ...] = (BadInput, UnstorableText)
WITH_BODY: tuple[type[PrereadError], ...] = (MalformedBody, UnsupportedMediaType, BodyTooLarge, *WITH_PARAMETERS)
"""There a body that cannot be read is an invalid value, as one that does not fit."""

_REF = "#/components/schemas/{model}"
_FRAMEWORKS_OWN = ("HTTPValidationError", "ValidationError")
_REQUEST_ID = {
    "description": "The request's, or a new one; log lines have it too.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"},
}
_RETRY_AFTER = {"description": "Seconds until it is worth trying again.", "schema": {"type": "integer", "minimum": 0}}


def problems(*errors: type[PrereadError]) -> dict[int | str, dict[str, Any]]:
    """A route's `responses` for these errors of its own. What all routes of its kind may answer is added by `Api`."""
    by_status: dict[int, list[Code]] = defaultdict(list)
    for error in errors:
        by_status[error.status].append(error.code)
    return {status: _response(codes) for status, codes in by_status.items()}


class Api(FastAPI):
    """Its schema is complete: see `problems`."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schema = super().openapi()
            _add_models(schema)
            routes = {route.unique_id: route for route in self.routes if isinstance(route, APIRoute)}
            for path in schema["paths"].values():
                for operation in path.values():
                    _complete(operation, routes[operation["operationId"]])
        return self.openapi_schema or {}


def _add_models(schema: dict[str, Any]) -> None:
    shown = (Problem, OpenAIError, MetaEvent, SourcesEvent, DeltaEvent)
    _, found = models_json_schema([(model, "serialization") for model in shown], ref_template=_REF)
    models = schema.setdefault("components", {}).setdefault("schemas", {})
    models |= found["$defs"]
    for name in _FRAMEWORKS_OWN:
        models.pop(name, None)
    for model in _models(BaseModel):
        extra = model.model_config.get("json_schema_extra")
        if model.__name__ in models and isinstance(extra, dict) and "examples" in extra:
            models[model.__name__]["examples"] = extra["examples"]  # the framework leaves out what is null


def _models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Those of the API that are derived from `base`."""
    for model in base.__subclasses__():
        if model.__module__.startswith("app.web.schemas."):
            yield model
        yield from _models(model)


def _complete(operation: dict[str, Any], route: APIRoute) -> None:
    responses: dict[str, Any] = operation["responses"]
    validation = responses.get("422", {})
    if CODES not in validation:
        responses.pop("422", None)  # the framework's own, in another shape
    for status, response in problems(*_common(operation, route)).items():
        responses[str(status)] = _joined(responses.get(str(status), {}), response)
    if isinstance(route, OpenAIRoute):
        operation["responses"] = responses = _in_openais_shape(responses)
    for status, response in responses.items():
        _drop_unknown_json(response)
        response["headers"] = {**response.get("headers", {}), REQUEST_ID_HEADER: _REQUEST_ID}
        if status in ("429", "503"):
            response["headers"]["Retry-After"] = _RETRY_AFTER
    operation["responses"] = dict(sorted(responses.items()))


def _common(operation: dict[str, Any], route: APIRoute) -> list[type[PrereadError]]:
    """What all routes of its kind may answer."""
    errors = [*ANYWHERE]
    if route.status_code == HTTPStatus.FOUND:
        return errors  # whatever goes wrong is told in the address
    public = anyone in guards_of(route)
    if not public:
        errors += GUARDED
    elif get_known in _calls(route.dependant):
        errors.append(DatabaseUnavailable)
    if "requestBody" in operation:
        errors += WITH_BODY
        errors += LARGE_FROM_STRANGERS if public else ()
    elif "parameters" in operation:
        errors += WITH_PARAMETERS
    return errors


def _calls(dependant: Dependant) -> Iterator[object]:
    """Whatever it depends on, however far down."""
    for below in dependant.dependencies:
        yield below.call
        yield from _calls(below)


def _joined(own: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """`own` may be empty, or of another shape than a problem's."""
    joined = _response([*own.get(CODES, ()), *common[CODES]])
    if own and CODES not in own:
        joined["description"] = f"{own['description']} Or {joined['description']}."
    return joined | {"content": own.get("content", {}) | joined["content"]}


def _drop_unknown_json(response: dict[str, Any]) -> None:
    """The framework says JSON of any shape of what a route answers by itself, beside what the route says of it."""
    content = response.get("content", {})
    if len(content) > 1 and content.get("application/json") == {"schema": {}}:
        del content["application/json"]


def _in_openais_shape(responses: dict[str, Any]) -> dict[str, Any]:
    codes: dict[str, set[str]] = defaultdict(set)
    for status, response in responses.items():
        codes[str(openai_status(int(status)))] |= {openai_code(code) for code in response.get(CODES, ())}
    shape = {"application/json": {"schema": {"$ref": _REF.format(model=OpenAIError.__name__)}}}
    good = {status: response for status, response in responses.items() if CODES not in response}
    return good | {
        status: {"description": _listed(found), "content": shape, CODES: sorted(found)}
        for status, found in codes.items()
        if found
    }


def _response(codes: Iterable[str]) -> dict[str, Any]:
    known = sorted({Code(code) for code in codes})
    return {
        "description": _listed(known),
        "content": {PROBLEM_TYPE: {"schema": {"$ref": _REF.format(model=Problem.__name__)}}},
        CODES: [str(code) for code in known],
    }


def _listed(codes: Iterable[str]) -> str:
    return ", ".join(f"`{code}`" for code in sorted(codes))


__all__ = ["CODES", "PROBLEM_TYPE", "Api", "problems"]
