"""The shape of everything web says: problems, headers, health, OpenAPI, internal routes."""

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy.exc import OperationalError
from web_harness import SECRET

from app.web.routes.pages import PageHeaders, add_pages
from retrieval.index import IndexedChunk
from retrieval.nearness import Question
from retrieval.remote_index import RemoteIndex

PROBLEM_KEYS = {"type", "title", "status", "detail", "code", "hint", "instance"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/documents/doc_none", 404),
        ("GET", "/documents/doc_none/text", 404),
        ("DELETE", "/documents/doc_none", 404),
        ("POST", "/documents/doc_none/retry", 404),
        ("PUT", "/documents", 405),
        ("GET", "/ask", 405),
        ("POST", "/ask", 422),
        ("GET", "/documents?limit=0", 422),
        ("GET", "/documents?limit=many", 422),
        ("POST", "/internal/index/count", 404),
    ],
)
def test_every_error_is_a_problem_object(web, method, path, status):
    answer = web.client.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json().keys() == PROBLEM_KEYS
    assert answer.json()["status"] == status


def test_an_unexpected_error_is_a_problem_that_tells_nothing_of_itself(web, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(web.services.catalog, "document_table", broken)
    # By a connection of its own: the server closes it after such an error.
    answer = httpx.get(f"{web.client.base_url}/documents", headers=web.client.headers)
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "secret of the inside" not in answer.text


def test_a_database_that_does_not_answer_is_unavailable(web, monkeypatch):
    def locked(*_args, **_kwargs):
        raise OperationalError("SELECT", {}, Exception("database is locked"))

    monkeypatch.setattr(web.services.catalog, "document_table", locked)
    answer = web.client.get("/documents")
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")


def test_a_body_over_the_limit_is_refused(web):
    answer = web.client.post("/ask", json={"question": "x" * (1 << 20)})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("path", ["/healthz", "/documents", "/nowhere", "/openapi.json"])
def test_every_answer_forbids_scripts_from_elsewhere(web, path):
    headers = web.client.get(path).headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@pytest.fixture
def built(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Preread</title>")
    (tmp_path / "favicon.svg").write_text("<svg/>")
    (tmp_path / "assets" / "index-4f.js").write_text("export {}")
    app = FastAPI()
    app.add_middleware(PageHeaders)
    add_pages(app, tmp_path)
    return TestClient(app)


def test_pages_are_served_with_their_types_and_hashed_files_are_cached_for_good(built):
    page, icon, script = (built.get(path) for path in ("/", "/favicon.svg", "/assets/index-4f.js"))
    assert [answer.headers["content-type"].split(";")[0] for answer in (page, icon, script)] == [
        "text/html",
        "image/svg+xml",
        "text/javascript",
    ]
    assert page.headers["cache-control"] == "no-cache"
    assert "immutable" in script.headers["cache-control"]
    assert "immutable" not in built.get("/assets/none.js").headers.get("cache-control", "")
    assert built.get("/assets/../index.html").status_code in (200, 404)
    assert built.get("/assets/%2e%2e/index.html").status_code == 404


def test_readiness_names_each_part_and_says_what_to_do(web):
    answer = web.client.get("/readyz")
    parts = {part["name"]: part for part in answer.json()["parts"]}
    assert parts.keys() == {"database", "queue", "engine", "index", "worker", "disk for chunk KV"}
    assert answer.status_code == 503, "no broker and no worker run here"
    assert {name for name, part in parts.items() if part["ok"]} == {"database", "engine", "index", "disk for chunk KV"}
    assert parts["worker"]["hint"]
    assert parts["queue"]["hint"]


def test_status_counts_documents_and_chunks(web):
    status = web.client.get("/status").json()
    assert status["engine_ready"] is True
    assert status["fusion"] is True
    assert sum(status["documents"].values()) == web.client.get("/documents").json()["total"]
    assert status["chunks"] >= 3


def test_rates_without_lookups_are_no_data(web):
    report = web.client.get("/admin/cache").json()
    if report["lookups"] == 0:
        assert report["hit_rate"] is None
        assert report["token_hit_rate"] is None
    assert [tier["name"] for tier in report["tiers"]] == ["disk"]
    assert report["documents_total"] == web.client.get("/documents").json()["total"]


def test_openapi_describes_every_field_and_names_every_operation(web):
    schema = web.client.get("/openapi.json").json()
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    assert {"ask", "list_documents", "add_document", "delete_document", "readiness", "cache_report", "metrics"} <= {
        operation["operationId"] for operation in operations
    }
    assert all(operation["summary"] for operation in operations)
    assert not [path for path in schema["paths"] if path.startswith("/internal")]
    assert schema["components"]["schemas"]["AskRequest"]["examples"]
    undescribed = [
        (name, field)
        for name, model in schema["components"]["schemas"].items()
        if "Validation" not in name and "HTTP" not in name and not name.startswith("Body_")
        for field, value in model.get("properties", {}).items()
        if "description" not in value and "$ref" not in value and value.get("type") != "array"
    ]
    assert undescribed == []


def test_a_worker_reaches_the_index_through_web(web):
    remote = RemoteIndex(str(web.client.base_url), SECRET)
    vector = web.services.embedder.embed_texts(["The pier opens at dawn."])[0]
    chunk = IndexedChunk("chk_1", "doc_pier", "ver_1", "elsewhere", 0, "The pier opens at dawn.", vector)
    remote.upsert([chunk])
    remote.upsert([chunk])
    assert remote.count("elsewhere") == web.services.index.count("elsewhere") == 1
    found = remote.search("elsewhere", Question("When does it open?", vector), 3)
    assert [each.chunk_id for each in found] == ["chk_1"]
    remote.delete_version("elsewhere", "doc_pier", "ver_1")
    assert remote.count("elsewhere") == 0
    remote.close()


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET[:-1], SECRET + "x"])
def test_internal_routes_do_not_exist_without_the_secret(web, secret):
    headers = {} if secret is None else {"X-Preread-Internal": secret}
    answer = web.client.post("/internal/index/count", json={"tenant": "default"}, headers=headers)
    assert answer.status_code == 404
