"""/openapi.json is whole: every route with examples that fit, and every answer it can give."""

import jsonschema
import pytest

from app.core.codes import Code
from app.core.settings import Settings
from app.web.main import create_app
from app.web.openapi import CODES, PROBLEM_TYPE
from app.web.schemas.problem import Problem

SCHEMA = create_app(Settings(_env_file=None, state_dir="unused")).openapi()
MODELS = SCHEMA["components"]["schemas"]
OPERATIONS = {
    operation["operationId"]: operation for methods in SCHEMA["paths"].values() for operation in methods.values()
}
PUBLIC = {"health", "readiness"}

every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


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
    assert any(status.startswith("2") for status in statuses)
    expected = {"500"} if operation["operationId"] in PUBLIC else {"403", "500", "503"}
    expected |= {"400", "413", "415", "422"} if "requestBody" in operation else set()
    expected |= {"422"} if "parameters" in operation else set()
    assert expected <= statuses


@every_operation
def test_every_error_is_a_problem_with_the_codes_it_can_have(operation):
    for status, response in operation["responses"].items():
        assert response["headers"]["X-Request-ID"]
        assert ("Retry-After" in response["headers"]) == (status in ("429", "503"))
        if status.startswith("2") or (operation["operationId"], status) == ("readiness", "503"):
            assert CODES not in response
            continue
        assert response[CODES]
        assert set(response[CODES]) <= set(Code)
        assert response["content"].keys() == {PROBLEM_TYPE}
        assert response["content"][PROBLEM_TYPE]["schema"] == {"$ref": "#/components/schemas/Problem"}


@every_operation
def test_what_is_sent_and_answered_has_an_example_that_fits(operation):
    for media_type, content in contents(operation):
        if media_type == "multipart/form-data":
            continue
        if not media_type.endswith("json"):
            assert "example" in content or content["schema"].get("format") == "binary", media_type
            continue
        name = content["schema"]["$ref"].rpartition("/")[2]
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
