"""Whatever is wrong with a request, on whatever route: a problem, of a code and status that the route documents."""

import json
import re
import socket
from http import HTTPStatus
from urllib.parse import quote

import httpx
import pytest

from app.core.codes import Code
from app.core.settings import Settings
from app.web.main import create_app
from app.web.openapi import CODES
from app.web.schemas.problem import Problem

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
NO_ID = "doc_none"


@pytest.fixture(scope="module")
def schema(shared_web):
    return shared_web.client.get("/openapi.json").json()


def operations():
    """Path, method, and where its input is and of what type: path, query, integer, application/json…"""
    settings = Settings(_env_file=None, state_dir="unused")
    schema = create_app(settings).openapi()
    for path, methods in schema["paths"].items():
        if path.startswith("/v1/"):
            continue  # there errors have OpenAI's shape: test_openai_client.py
        for method, operation in methods.items():
            body = operation.get("requestBody", {})
            need = "required" if body.get("required") else "optional"
            content = {f"{need} {kind}" for kind in body.get("content", {})}
            parameters = operation.get("parameters", ())
            kinds = {each["in"] for each in parameters} | {each["schema"].get("type") for each in parameters}
            kinds |= content
            yield pytest.param(path, method.upper(), kinds, id=f"{method} {path}")


OPERATIONS = list(operations())


def those(chosen):
    """The operations whose kinds of input `chosen` picks."""
    picked = [pytest.param(*each.values[:2], id=each.id) for each in OPERATIONS if chosen(each.values[2])]
    assert picked
    return pytest.mark.parametrize(("path", "method"), picked)


every_operation = those(lambda kinds: True)
with_an_id = those(lambda kinds: "path" in kinds)
with_a_query = those(lambda kinds: "integer" in kinds)
with_json = those(lambda kinds: "required application/json" in kinds)
with_a_body = those(lambda kinds: any(str(kind).startswith(("required ", "optional ")) for kind in kinds))


def checked(answer, schema=None, path=None, method=None) -> Problem:
    """The problem that an answer is, all of the contract held against it."""
    assert answer.headers["content-type"] == "application/problem+json"
    problem = Problem.model_validate(answer.json())
    assert answer.json().keys() == Problem.model_fields.keys()
    assert problem.status == answer.status_code
    assert problem.title == HTTPStatus(answer.status_code).phrase
    assert problem.type == f"urn:preread:problem:{problem.code}"
    assert problem.detail
    assert problem.request_id == answer.headers["x-request-id"]
    retry_after = answer.headers.get("retry-after")
    assert retry_after == (None if problem.retry_after_seconds is None else str(problem.retry_after_seconds))
    assert retry_after or answer.status_code not in (429, 503)
    assert "default-src" in answer.headers["content-security-policy"]
    if schema is not None:
        responses = schema["paths"][path][method.lower()]["responses"]
        assert problem.code in responses[str(answer.status_code)][CODES]
    return problem


def filled(path):
    return re.sub(r"{\w+}", NO_ID, path)


def body_for(path, method):
    """One that the route takes."""
    bodies = {
        "/conversations/{conversation_id}": {"title": "Leave"},
        "/ask/{request_id}/feedback": {"rating": "up"},
        "/admin/users/{name}": {"disabled": True},
        "/documents/{document_id}/labels": {},
    }
    return {"json": bodies[path]} if path in bodies and method not in ("GET", "DELETE") else {}


def takes(template, methods, method, path):
    return method.lower() in methods and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)


@every_operation
def test_a_method_that_a_path_has_not_is_a_405_that_names_those_it_has(web, schema, path, method):
    allowed = {name.upper() for name in schema["paths"][path]} - {"PARAMETERS"}
    for other in set(METHODS) - allowed:
        answer = web.client.request(other, filled(path))
        if any(takes(template, methods, other, filled(path)) for template, methods in schema["paths"].items()):
            continue  # as the value of a parameter
        assert answer.status_code == 405, other
        assert checked(answer).code is Code.METHOD_NOT_ALLOWED
        assert allowed <= set(answer.headers["allow"].split(", "))


@with_an_id
def test_a_path_that_names_nothing_is_a_documented_problem(web, schema, path, method):
    answer = web.client.request(method, filled(path), **body_for(path, method))
    if path.endswith("/vectors"):
        assert answer.json() == {"vectors": 0}
        return
    # Whether another web process makes an answer is not known without a queue to look in.
    assert answer.status_code == 404 or (answer.status_code == 503 and path.startswith("/ask/"))
    checked(answer, schema, path, method)


@with_an_id
@pytest.mark.parametrize("sent", ["x" * 101, "a\0b", "\ufffd", "%2e%2e", "'; --"], ids=ascii)
def test_a_path_of_odd_characters_is_a_documented_problem(web, schema, path, method, sent):
    name = path[path.index("{") : path.index("}") + 1]
    answer = web.client.request(method, path.replace(name, quote(sent, safe="")), **body_for(path, method))
    if path.endswith("/vectors") and answer.status_code == 200:
        assert answer.json() == {"vectors": 0}
        return
    assert answer.status_code in (404, 422) or (answer.status_code == 503 and path.startswith("/ask/"))
    checked(answer, schema, path, method)


@with_a_query
def test_a_bad_query_points_at_each_fault(web, schema, path, method):
    parameters = schema["paths"][path][method.lower()].get("parameters", ())
    numbers = [each["name"] for each in parameters if each["in"] == "query" and each["schema"].get("type") == "integer"]
    answer = web.client.request(method, filled(path), params=dict.fromkeys(numbers, "many"))
    problem = checked(answer, schema, path, method)
    assert (answer.status_code, problem.code) == (422, Code.BAD_INPUT)
    assert {fault.pointer for fault in problem.errors} == {f"/query/{name}" for name in numbers}
    assert all(fault.message for fault in problem.errors)


JSON = {"Content-Type": "application/json"}
BROKEN = [
    pytest.param(b'{"question": "wh', JSON, 400, Code.MALFORMED_BODY, id="cut off"),
    pytest.param(b'{"question": "\xff\xfe"}', JSON, 400, Code.MALFORMED_BODY, id="not UTF-8"),
    pytest.param(b"[" * 100_000, JSON, 400, Code.MALFORMED_BODY, id="nested without end"),
    pytest.param(b"[1]", JSON, 422, Code.BAD_INPUT, id="a list"),
    pytest.param(b"null", JSON, 422, Code.BAD_INPUT, id="null"),
    pytest.param(b"", JSON, 422, Code.BAD_INPUT, id="nothing"),
    pytest.param(b'{"\\ud800": 1}', JSON, 422, Code.BAD_INPUT, id="a lone surrogate as a name"),
    pytest.param(b"a=1", {"Content-Type": "text/plain"}, 415, Code.UNSUPPORTED_MEDIA_TYPE, id="plain text"),
    pytest.param(b"{}", {}, 415, Code.UNSUPPORTED_MEDIA_TYPE, id="no content type"),
    pytest.param(b"{}", {"Content-Type": "/"}, 415, Code.UNSUPPORTED_MEDIA_TYPE, id="no real content type"),
]


@pytest.mark.parametrize(("body", "headers", "status", "code"), BROKEN)
@with_json
def test_a_bad_body_is_a_documented_problem(web, schema, path, method, body, headers, status, code):
    answer = web.client.request(method, filled(path), content=body, headers=headers)
    problem = checked(answer, schema, path, method)
    assert (answer.status_code, problem.code) == (status, code)
    assert bool(problem.errors) == (code is Code.BAD_INPUT)


@with_a_body
def test_a_body_over_the_limit_is_refused(web, schema, path, method):
    large = b" " * (2 << 20)
    sent = {"files": {"file": ("large.txt", large)}} if path == "/documents" else {"content": large, "headers": JSON}
    answer = web.client.request(method, filled(path), **sent)
    assert answer.status_code == 413
    assert checked(answer, schema, path, method).code is Code.BODY_TOO_LARGE


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"{}", JSON, 415, Code.UNSUPPORTED_MEDIA_TYPE),
        (b"", {}, 422, Code.BAD_INPUT),
        (b"--x\r\n", {"Content-Type": "multipart/form-data"}, 400, Code.MALFORMED_BODY),
        (b"a=1", {"Content-Type": "application/x-www-form-urlencoded"}, 422, Code.BAD_INPUT),
    ],
    ids=["JSON", "nothing", "no boundary", "a form without a file"],
)
def test_an_upload_that_is_none_is_a_documented_problem(web, schema, content, headers, status, code):
    answer = web.client.post("/documents", content=content, headers=headers)
    assert (answer.status_code, checked(answer, schema, "/documents", "post").code) == (status, code)


@pytest.mark.parametrize("text", ["\0", "\ud800"], ids=ascii)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "/ask", lambda text: {"question": "?", "scope": {"document_ids": [text]}}),
        ("post", "/ask", lambda text: {"question": "?", "scope": {"tags": [text]}}),
        ("post", "/ask", lambda text: {"question": f"What {text} is the allowance?"}),
        ("post", "/ask", lambda text: {"question": "?", "policy": text}),
        ("post", "/precompute", lambda text: {"document_id": text}),
        ("post", "/sync", lambda text: {"folder": text}),
        ("post", "/documents/urls", lambda text: {"urls": ["https://x.org"], "tags": [text]}),
        ("put", f"/documents/{NO_ID}/labels", lambda text: {"tags": [text]}),
    ],
    ids=["scope", "tags", "question", "policy", "precompute", "sync", "urls", "labels"],
)
def test_text_that_nothing_can_store_is_no_error_of_ours(web, method, path, body, text):
    answer = web.client.request(method, path, content=json.dumps(body(text)), headers=JSON)
    assert answer.status_code in (200, 404, 422), answer.text
    if answer.status_code != 200:
        checked(answer)


@pytest.mark.parametrize("path", ["/nowhere", "/ask/", "/documents/a/b/c", "/assets/none.js", "/%00", "/%ff", "/.env"])
def test_a_path_that_is_none_is_a_problem(web, path):
    answer = web.client.get(path)
    assert answer.status_code == 404
    assert checked(answer).code is Code.NOT_FOUND


def test_head_of_a_path_without_it_says_what_there_is(web):
    answer = web.client.head("/documents")
    assert (answer.status_code, answer.content) == (405, b"")
    assert answer.headers["allow"] == "GET, POST"
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize("sent", [b"NONSENSE\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"])
def test_what_is_no_http_is_a_problem_too(web, sent):
    url = web.client.base_url
    with socket.create_connection((url.host, url.port), timeout=10) as connection:
        connection.sendall(sent)
        received = b""
        while piece := connection.recv(1 << 16):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    lines = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert lines[b"content-type"] == b"application/problem+json"
    assert int(lines[b"content-length"]) == len(body)
    problem = Problem.model_validate_json(body)
    assert problem.code is Code.BAD_REQUEST
    assert lines[b"x-request-id"].decode() == problem.request_id


def test_an_unexpected_error_has_all_that_others_have(web, schema, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(web.services.catalog, "document_table", broken)
    answer = httpx.get(f"{web.client.base_url}/documents", headers=web.client.headers)
    assert answer.status_code == 500
    assert checked(answer, schema, "/documents", "get").code is Code.INTERNAL_ERROR
    assert "secret" not in answer.text


def test_an_error_in_a_stream_has_the_same_shape(web):
    web.engine.refusal = 503
    last = web.stream("What is the travel meal allowance?")[-1]
    assert last.name == "error"
    assert last.data.keys() == Problem.model_fields.keys()
    problem = Problem.model_validate(last.data)
    assert problem.code is Code.ENGINE_UNAVAILABLE
    assert problem.retry_after_seconds
    assert problem.request_id


def test_an_engine_that_is_away_is_worth_another_try(web, schema):
    web.engine.refusal = 503
    answer = web.ask("What is the travel meal allowance?")
    assert answer.status_code == 503
    assert checked(answer, schema, "/ask", "post").code is Code.ENGINE_UNAVAILABLE
