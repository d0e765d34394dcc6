"""/openapi.json is whole: every route with examples that fit, and every answer it can give."""

import jsonschema
import pytest
from fastapi.routing import APIRoute

from app.core.codes import Code
from app.core.settings import Settings
from app.web.access.guard import anyone, guards_of
from app.web.main import create_app
from app.web.openai.errors import OpenAIRoute, openai_code, openai_status
from app.web.openapi import CODES, PROBLEM_TYPE
from app.web.schemas.problem import Problem

APP = create_app(Settings(_env_file=None, state_dir="unused"))
SCHEMA = APP.openapi()
MODELS = SCHEMA["components"]["schemas"]
OPERATIONS = {
    operation["operationId"]: operation for methods in SCHEMA["paths"].values() for operation in methods.values()
}
ROUTES = {route.unique_id: route for route in APP.routes if isinstance(route, APIRoute)}
GUARDS_OWN = {Code.FORBIDDEN, Code.RATE_LIMITED, Code.TOO_MANY_AT_ONCE}

every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


def route_of(operation):
    return ROUTES[operation["operationId"]]


def is_public(operation):
    return anyone in guards_of(route_of(operation))


def is_redirect(operation):
    return route_of(operation).status_code == 302


def is_openais(operation):
    return isinstance(route_of(operation), OpenAIRoute)


def codes_of(operation):
    return {code for response in operation["responses"].values() for code in response.get(CODES, ())}


def resolved(schema):
    """A schema with the models it refers to, for a validator."""
    return {**schema, "components": SCHEMA["components"]}


def contents(operation):
    """Media type and content of the request and of every answer that went well."""
    yield from operation.get("requestBody", {}).get("content", {}).items()
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield from response.get("content", {}).items()


def test_no_operation_goes_by_anothers_name():
    assert len(OPERATIONS) == sum(len(methods) for methods in SCHEMA["paths"].values())


@every_operation
def test_an_operation_says_what_it_does_and_has_every_status_it_can_answer(operation):
    assert operation["summary"]
    assert operation["tags"]
    statuses = operation["responses"].keys()
    if is_redirect(operation):
        assert statuses == {"302", "500"}
        return
    assert any(status.startswith("2") for status in statuses)
    expected = {500} if is_public(operation) else {401, 403, 429, 500, 503}
    expected |= {413, 422} if "requestBody" in operation else set()
    expected |= {400, 415} if "requestBody" in operation and not is_openais(operation) else set()
    expected |= {422} if "parameters" in operation else set()
    assert {str(openai_status(status) if is_openais(operation) else status) for status in expected} <= statuses
    assert not (is_openais(operation) and "422" in statuses)


@every_operation
def test_what_guards_answer_stands_where_they_are(operation):
    if is_public(operation):
        assert not GUARDS_OWN & codes_of(operation)
        # A large body is read of those alone who are known, also where nobody need be.
        assert (Code.UNAUTHENTICATED in codes_of(operation)) == ("requestBody" in operation)
    else:
        assert codes_of(operation) >= GUARDS_OWN | {Code.UNAUTHENTICATED, Code.DATABASE_UNAVAILABLE}


def test_a_public_route_names_the_database_where_it_asks_it():
    public = {name for name, operation in OPERATIONS.items() if is_public(operation)}
    asking = {name for name in public if Code.DATABASE_UNAVAILABLE in codes_of(OPERATIONS[name])}
    assert asking == {"readiness", "sign_in"}


@every_operation
def test_every_error_has_its_shape_and_the_codes_it_can_have(operation):
    media_type, model = ("application/json", "OpenAIError") if is_openais(operation) else (PROBLEM_TYPE, "Problem")
    known = {openai_code(code) for code in Code} if is_openais(operation) else set(Code)
    for status, response in operation["responses"].items():
        assert response["headers"]["X-Request-ID"]
        assert ("Retry-After" in response["headers"]) == (status in ("429", "503"))
        if status[0] in "23":
            assert CODES not in response
            continue
        assert response[CODES]
        assert set(response[CODES]) <= known
        assert response["content"][media_type]["schema"] == {"$ref": f"#/components/schemas/{model}"}
        tells_more = (operation["operationId"], status) == ("readiness", "503")
        assert response["content"].keys() == ({media_type, "application/json"} if tells_more else {media_type})


@every_operation
def test_what_is_sent_and_answered_has_an_example_that_fits(operation):
    for media_type, content in contents(operation):
        if media_type == "multipart/form-data":
            continue
        if not media_type.endswith("json"):
            assert "example" in content or content["schema"].get("format") == "binary", media_type
            continue
        schemas = [each for each in content["schema"].get("anyOf", [content["schema"]]) if each != {"type": "null"}]
        for name in (each["$ref"].rpartition("/")[2] for each in schemas):
            assert MODELS[name]["examples"], name


@pytest.mark.parametrize("name", sorted(MODELS))
def test_examples_fit_their_model(name):
    jsonschema.Draft202012Validator.check_schema(MODELS[name])
    for example in MODELS[name].get("examples", ()):
        jsonschema.validate(example, resolved(MODELS[name]), format_checker=jsonschema.FormatChecker())


@every_operation
def test_every_parameter_is_described(operation):
    assert [each["name"] for each in operation.get("parameters", ()) if not each.get("description")] == []


def test_codes_are_an_enum():
    assert set(MODELS["Code"]["enum"]) == set(Code)
    assert MODELS["Problem"]["properties"].keys() == Problem.model_fields.keys()
    assert not {"HTTPValidationError", "ValidationError"} & MODELS.keys()


def test_events_of_a_stream_are_models_too():
    assert {"MetaEvent", "SourcesEvent", "DeltaEvent", "AnswerOut", "Problem"} <= MODELS.keys()
