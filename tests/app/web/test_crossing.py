"""A full admin of one tenant tries every route on what another tenant has, and gets and changes nothing.

Each route has an entry here; one without fails the test, and so does an entry without a route.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from household import FOLDER, Household, furnished
from served_web import web_served
from web_harness import DEADLINE_SECONDS, SECRET, Web

from app.core.settings import Settings
from app.web.main import create_app

OTHER = "harbour"
NOBODYS = {
    "document_id": "doc_00000000000000000000",
    "job_id": "ingest-doc_00000000000000000000",
    "run_id": "run_00000000000000000000",
    "sync_id": "syn_00000000000000000000",
    "key_id": "key_00000000000000000000",
    "name": "nobody-of-this-name",
}


@dataclass(frozen=True)
class Attempt:
    """One route, tried by `thief` on what `owner` has."""

    thief: Household
    owner: Household
    method: str
    path: str

    def send(self, ids: dict[str, str], **options: Any) -> httpx.Response:
        return self.thief.client.request(self.method, self.path.format(**ids), **options)

    def takes_nothing(self, answer: httpx.Response) -> None:
        found = [mark for mark in self.owner.marks if mark in answer.text]
        assert found == [], (self.method, self.path, answer.text)
        assert answer.status_code < 500 or answer.status_code == 503, answer.text


def by_id(**options: Any) -> Callable[[Attempt], None]:
    """Answered as for an id that nobody has, word for word."""

    def attempt(it: Attempt) -> None:
        theirs, nobodys = it.send(it.owner.ids, **options), it.send(NOBODYS, **options)
        assert theirs.status_code == nobodys.status_code, (it.method, it.path, theirs.text)
        assert theirs.status_code == 404 or it.path.endswith("/vectors")
        assert _anonymous(theirs, it.owner.ids) == _anonymous(nobodys, NOBODYS), (it.method, it.path)

    return attempt


def whole(**options: Any) -> Callable[[Attempt], None]:
    """A list, a report or a change of one's own: nothing of the other is in the answer."""

    def attempt(it: Attempt) -> None:
        answer = it.send({}, **options)
        assert answer.is_success or answer.status_code == 503, answer.text
        it.takes_nothing(answer)

    return attempt


def redirected(it: Attempt) -> None:
    answer = it.send({})
    assert answer.is_redirect
    it.takes_nothing(answer)


def narrowed(*queries: str) -> Callable[[Attempt], None]:
    """A list, and the same searched for what the other has."""

    def attempt(it: Attempt) -> None:
        whole()(it)
        word = it.owner.label.partition("-")[0]
        values = {"q": word, "collection": it.owner.label, "tag": f"{word}-tag"}
        for query in queries:
            found = it.send({}, params={query: values[query]}).json()
            assert (found["items"], found["total"]) == ([], 0), found

    return attempt


def asking(it: Attempt) -> None:
    document, tag = it.owner.ids["document_id"], it.owner.label.replace("shelf", "tag")
    scopes = [{}, {"document_ids": [document]}, {"collections": [it.owner.label]}, {"tags": [tag]}]
    for scope in scopes:
        for cache in ("auto", "off", "only"):
            body = {"question": "Who paints the lamp room green?", "scope": scope, "cache": cache}
            it.takes_nothing(it.send({}, json=body))
            streamed = it.send({}, json={**body, "stream": True})
            it.takes_nothing(streamed)
            if scope and streamed.is_success:
                assert '"passages": []' in streamed.text


def uploading(it: Attempt) -> None:
    """The other's very bytes are a new document here."""
    before = it.owner.client.get(f"/documents/{it.owner.ids['document_id']}").json()
    text = it.owner.client.get(f"/documents/{before['id']}/file").content
    answer = it.send({}, files={"file": ("same.md", text)})
    assert answer.status_code == 201
    added = answer.json()["document"]
    assert added["id"] != before["id"]
    assert (added["collections"], added["tags"], added["chunks_ready"]) == ([], [], 0)
    assert it.thief.client.delete(f"/documents/{added['id']}").status_code == 204


def precomputing(it: Attempt) -> None:
    bodies = [{"document_id": ids["document_id"]} for ids in (it.owner.ids, NOBODYS)]
    theirs, nobodys = (it.send({}, json=body) for body in bodies)
    assert (theirs.status_code, nobodys.status_code) == (404, 404)
    assert _anonymous(theirs, it.owner.ids) == _anonymous(nobodys, NOBODYS)
    it.takes_nothing(it.send({}, json={"mode": "all"}))


def naming(it: Attempt) -> None:
    """Names are unique in the installation: that one is taken is told, and nothing else."""
    answer = it.send({}, json={"name": it.owner.ids["name"]})
    assert (answer.status_code, answer.json()["code"]) == (409, "user_exists")
    assert it.owner.tenant not in answer.text


def syncing(it: Attempt) -> None:
    it.takes_nothing(it.send({}, json={"dry_run": True}))


def signing_in(it: Attempt) -> None:
    answer = it.send({}, json={"name": it.owner.ids["name"], "password": "not the password"})
    assert (answer.status_code, answer.json()["code"]) == (401, "sign_in_failed")


def inside(it: Attempt) -> None:
    body = {"tenant": it.owner.tenant}
    assert it.send({"operation": "count"}, json=body).status_code == 404


def scraping(it: Attempt) -> None:
    whole()(it)
    told = it.send({}).text
    assert f'tenant="{it.thief.tenant}"' in told
    assert f'tenant="{it.owner.tenant}"' not in told


ENTRIES: dict[str, Callable[[Attempt], None]] = {
    "POST /ask": asking,
    "GET /documents": narrowed("q", "collection", "tag"),
    "POST /documents": uploading,
    "POST /documents/urls": whole(json={"urls": ["https://nowhere.example/a.md"]}),
    "GET /documents/{document_id}": by_id(),
    "GET /documents/{document_id}/text": by_id(),
    "GET /documents/{document_id}/file": by_id(),
    "GET /documents/{document_id}/vectors": by_id(),
    "DELETE /documents/{document_id}": by_id(),
    "POST /documents/{document_id}/retry": by_id(),
    "PUT /documents/{document_id}/labels": by_id(json={"collections": [], "tags": []}),
    "GET /collections": whole(),
    "GET /tags": whole(),
    "POST /sync": syncing,
    "GET /sync": whole(),
    "GET /sync/{sync_id}": by_id(),
    "GET /healthz": whole(),
    "GET /readyz": whole(),
    "GET /status": whole(),
    "POST /precompute": precomputing,
    "GET /admin/cache": whole(),
    "GET /jobs": whole(),
    "POST /jobs/{job_id}/retry": by_id(),
    "DELETE /jobs/{job_id}": by_id(),
    "GET /admin/runs": whole(),
    "GET /admin/runs/{run_id}": by_id(),
    "GET /metrics": scraping,
    "GET /auth/methods": whole(),
    "GET /auth/oidc/start": redirected,
    "GET /auth/oidc/callback": redirected,
    "POST /auth/session": signing_in,
    "GET /auth/session": whole(),
    "DELETE /auth/session": whole(),
    "GET /admin/keys": whole(),
    "POST /admin/keys": whole(json={"name": "mine"}),
    "POST /admin/keys/{key_id}/rotate": by_id(),
    "DELETE /admin/keys/{key_id}": by_id(),
    "GET /admin/users": whole(),
    "POST /admin/users": naming,
    "PATCH /admin/users/{name}": by_id(json={"disabled": True}),
    "POST /admin/users/{name}/password": by_id(),
    "GET /admin/audit": whole(params={"limit": 500}),
    "POST /internal/index/{operation}": inside,
}


@pytest.fixture(scope="module")
def crossed_web(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crossing")
    settings = Settings(
        _env_file=None,
        state_dir=folder / "state",
        engine_url=engine.url,
        internal_secret=SECRET,
        sync_folders=f"{FOLDER}={folder}",
    )
    app = create_app(settings)
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        yield Web(client, app.state.services, server, engine)


@pytest.fixture(scope="module")
def households(crossed_web):
    pair = furnished(crossed_web, "default", "zyxol"), furnished(crossed_web, OTHER, "quomb")
    yield pair
    for household in pair:
        household.client.close()


def routes(web):
    """`METHOD path` of everything that the application serves."""
    found = [route for route in web.server.config.app.routes if isinstance(route, APIRoute)]
    return {f"{method} {route.path}" for route in found for method in route.methods}


def test_every_route_has_an_entry_and_every_entry_a_route(crossed_web):
    assert routes(crossed_web) == ENTRIES.keys()


@pytest.mark.parametrize("thief", ["default", OTHER])
@pytest.mark.parametrize("entry", ENTRIES)
def test_nothing_of_another_tenant_is_to_be_had(crossed_web, households, thief, entry):
    crossed_web.engine.behave()
    thief, owner = households if thief == "default" else households[::-1]
    before = owner.shown()
    method, path = entry.split()
    ENTRIES[entry](Attempt(thief, owner, method, path))
    assert owner.shown() == before


def test_what_the_tenants_have_is_found_by_their_own(households):
    """Or the tests above would find nothing anywhere."""
    for household in households:
        shown = json.dumps(household.shown())
        missing = {mark for mark in household.marks if mark not in shown}
        assert missing == set()
        answer = household.client.post("/ask", json={"question": household.question, "stream": True})
        assert household.ids["document_id"] in answer.text


def test_what_concerns_the_whole_machine_is_told_the_operators_admins_alone(households):
    operators, others = (household.client for household in households)
    assert operators.get("/admin/cache").json()["tiers"]
    assert others.get("/admin/cache").json()["tiers"] == []
    assert operators.get("/jobs").json()["dropped"] == others.get("/jobs").json()["dropped"] == {}
    machine = ("preread_tier_bytes", "preread_machine_memory_bytes", "preread_dropped_messages", "process_cpu_seconds")
    for name in machine:
        assert name in operators.get("/metrics").text
        assert name not in others.get("/metrics").text
    assert operators.get("/sync").json()["folders"] == [FOLDER]
    assert others.get("/sync").json()["folders"] == []


def _anonymous(answer: httpx.Response, ids: dict[str, str]) -> Any:
    """What was answered, without the id that was asked for and the request's own."""
    text = answer.text
    for found in sorted(ids.values(), key=len, reverse=True):
        text = text.replace(found, "ID")
    shown = json.loads(text) if text else None
    if isinstance(shown, dict):
        shown.pop("request_id", None)
    return shown
