"""The audit log: every change, by whom and from where, and nothing secret."""

import json
from itertools import count

import httpx
import pytest
from credentials import PASSWORD, bearer, new_key, new_user

from app.core.catalog import RunState
from app.web.access.audit import Action

numbers = count()


@pytest.fixture
def noted(web):
    """What came into the log since the test began, oldest first."""
    before = web.client.get("/admin/audit", params={"limit": 1}).json()["total"]

    def noted():
        page = web.client.get("/admin/audit", params={"limit": 500}).json()
        return page["items"][: page["total"] - before][::-1]

    return noted


@pytest.fixture
def actor(web):
    key, token = new_key(web.services.catalog)
    with httpx.Client(base_url=web.client.base_url, headers=bearer(token)) as client:
        yield key, client


def changes(web, client):
    """Each change of the API, made once; the actions that the log must name, with a part of each target."""
    n = next(numbers)
    added = client.post("/documents", files={"file": (f"audited-{n}.md", f"Audited text {n}.".encode())}).json()
    document = added["document"]["id"]
    yield Action.DOCUMENT_ADD, document
    client.put(f"/documents/{document}/labels", json={"tags": ["audited"]})
    yield Action.DOCUMENT_LABEL, document
    web.ingest(document)
    run = client.post("/precompute", json={"document_id": document}).json()["run_id"]
    web.services.catalog.end_run(run, RunState.STOPPED)
    yield Action.PRECOMPUTE, document
    client.post(f"/documents/{document}/retry")
    yield Action.DOCUMENT_RETRY, document
    client.delete(f"/documents/{document}")
    yield Action.DOCUMENT_DELETE, document
    key = client.post("/admin/keys", json={"name": f"audited key {n}"}).json()["key"]["id"]
    yield Action.KEY_CREATE, key
    client.post(f"/admin/keys/{key}/rotate")
    yield Action.KEY_ROTATE, key
    client.delete(f"/admin/keys/{key}")
    yield Action.KEY_REVOKE, key
    name = f"audited-{n}"
    client.post("/admin/users", json={"name": name, "password": PASSWORD})
    yield Action.USER_CREATE, name
    client.patch(f"/admin/users/{name}", json={"role": "editor"})
    yield Action.USER_CHANGE, name
    client.post(f"/admin/users/{name}/password", json={"password": f"{PASSWORD} 2"})
    yield Action.USER_PASSWORD, name


def test_every_change_is_noted_with_who_made_it(web, actor, noted):
    key, client = actor
    wanted = list(changes(web, client))
    entries = noted()
    assert [entry["action"] for entry in entries] == [action for action, _ in wanted]
    for entry, (_, target) in zip(entries, wanted, strict=True):
        assert target in entry["target"]
        assert (entry["actor_id"], entry["actor"], entry["address"]) == (key.id, key.name, "127.0.0.1")


def test_what_only_asks_or_looks_is_not_noted(web, actor, noted):
    _, client = actor
    for path in ("/documents", "/status", "/jobs", "/admin/cache", "/admin/keys", "/metrics"):
        assert client.get(path).status_code == 200
    assert client.post("/ask", json={"question": "How many days of leave are there?"}).status_code == 200
    assert noted() == []


def test_a_change_that_was_refused_is_not_noted(web, actor, noted):
    _, client = actor
    assert client.delete("/documents/doc_none").status_code == 404
    assert client.post("/admin/keys", json={"name": ""}).status_code == 422
    assert noted() == []


def test_signing_in_well_and_badly_and_out_is_noted(web, noted):
    who = new_user(web.services.catalog, f"signing-{next(numbers)}")
    with httpx.Client(base_url=web.client.base_url) as browser:
        browser.post("/auth/session", json={"name": "nobody-of-this-name", "password": PASSWORD})
        browser.post("/auth/session", json={"name": who.name, "password": "not the password"})
        session = browser.post("/auth/session", json={"name": who.name, "password": PASSWORD}).json()
        browser.delete("/auth/session", headers={"X-CSRF-Token": session["csrf_token"]})
    assert [(entry["action"], entry["actor_id"], entry["actor"]) for entry in noted()] == [
        ("sign_in.failed", "", "nobody-of-this-name"),
        ("sign_in.failed", who.id, who.name),
        ("sign_in", who.id, who.name),
        ("sign_out", who.id, who.name),
    ]


def test_the_request_is_named(web, actor, noted):
    _, client = actor
    client.post("/admin/keys", json={"name": "named"}, headers={"X-Request-ID": "req-of-the-test"})
    assert [entry["request_id"] for entry in noted()] == ["req-of-the-test"]


def test_nothing_secret_is_in_the_log(web, actor, noted):
    _, client = actor
    secret = client.post("/admin/keys", json={"name": "secret"}).json()["secret"]
    name = f"secret-{next(numbers)}"
    client.post("/admin/users", json={"name": name, "password": PASSWORD})
    httpx.post(f"{web.client.base_url}/auth/session", json={"name": name, "password": "wrong and secret"})
    told = json.dumps(noted())
    assert secret not in told
    assert secret.rpartition("_")[2] not in told
    assert PASSWORD not in told
    assert "wrong and secret" not in told


def test_the_log_comes_in_pages(web, actor, noted):
    _, client = actor
    for each in range(3):
        client.post("/admin/keys", json={"name": f"page {each}"})
    first, second = (client.get("/admin/audit", params={"limit": 2, "offset": at}).json() for at in (0, 2))
    assert first["total"] == second["total"]
    targets = [entry["target"] for entry in (*first["items"], *second["items"])]
    assert ["page 2" in targets[0], "page 1" in targets[1], "page 0" in targets[2]] == [True] * 3
