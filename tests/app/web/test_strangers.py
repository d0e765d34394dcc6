"""What those get who are not known: nothing but the few routes that are for everybody."""

import re
import threading

import httpx
import pytest
from credentials import admin_headers, bearer, new_key
from fastapi.routing import APIRoute

from app.core.access import Role
from app.core.catalog import Catalog, DatabaseUnavailable
from app.core.key_token import new_secret, token_of
from app.core.settings import Settings
from app.web.access.guard import anyone, guards_of
from app.web.access.strangers import NobodyKnown, require_somebody
from app.web.deps import require_internal_secret

NOBODYS = token_of("key_00000000000000000000", new_secret())


@pytest.fixture
def stranger(web):
    with httpx.Client(base_url=web.client.base_url) as client:
        yield client


def filled(path):
    return re.sub(r"\{\w+\}", "none", path)


def test_every_route_but_the_public_ones_answers_401(web, stranger):
    asked = 0
    for route in web.server.config.app.routes:
        if isinstance(route, APIRoute) and guards_of(route) not in ([anyone], [require_internal_secret]):
            for method in route.methods:
                answer = stranger.request(method, filled(route.path), json={})
                assert answer.status_code == 401, (method, route.path, answer.text)
                assert answer.json().get("error", answer.json())["code"] == "unauthenticated"
                assert answer.headers["www-authenticate"] == "Bearer"
                asked += 1
    assert asked > 25


@pytest.mark.parametrize("path", ["/healthz", "/auth/methods", "/openapi.json"])
def test_what_is_for_everybody_is_there(stranger, path):
    assert stranger.get(path).status_code == 200


async def test_a_large_body_of_a_stranger_is_not_read_to_its_end(web):
    sent = 0

    async def pieces():
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        while True:
            sent += 1
            yield b"x" * 16384

    transport = httpx.ASGITransport(web.server.config.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://preread") as stranger:
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = await stranger.post("/documents", content=pieces(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert sent == 4


def test_readiness_tells_strangers_what_is_well_and_not_why(web, stranger):
    told = stranger.get("/readyz").json()
    in_full = web.client.get("/readyz").json()
    assert [(part["name"], part["ok"]) for part in told["parts"]] == [
        (part["name"], part["ok"]) for part in in_full["parts"]
    ]
    assert told["ready"] == in_full["ready"]
    assert {part["message"] + part["hint"] for part in told["parts"]} == {""}
    assert all(part["message"] for part in in_full["parts"])


@pytest.mark.parametrize("who", ["a reader", "another tenant's admin", "a wrong key"])
def test_readiness_tells_nobody_why_but_the_operators_admins(web, stranger, who):
    catalog = web.services.catalog
    headers = {
        "a reader": lambda: bearer(new_key(catalog, role=Role.READER)[1]),
        "another tenant's admin": lambda: admin_headers(catalog, "other"),
        "a wrong key": lambda: bearer("prk_wrong_key"),
    }[who]()
    parts = stranger.get("/readyz", headers=headers).json()["parts"]
    assert {part["message"] + part["hint"] for part in parts} == {""}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "preread.example.org"])
def test_web_does_not_listen_for_strangers_while_nobody_is_known(tmp_path, host):
    settings = Settings(_env_file=None, state_dir=tmp_path, host=host)
    with pytest.raises(NobodyKnown) as refusal:
        require_somebody(settings)
    assert host in refusal.value.message
    assert "preread user create" in refusal.value.hint
    catalog = Catalog(settings.effective_database_url)
    new_key(catalog)
    catalog.close()
    require_somebody(settings)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_on_loopback_web_may_start_before_anybody_is_known(tmp_path, host):
    require_somebody(Settings(_env_file=None, state_dir=tmp_path, host=host))


def away(*_args, **_kwargs):
    raise DatabaseUnavailable("connection to server at 10.1.2.3, port 5432 failed for user preread", "See its log.")


def test_a_stranger_is_not_told_where_the_database_is(web, stranger, monkeypatch):
    monkeypatch.setattr(web.services.catalog, "find_key", away)
    for path in ("/documents", "/v1/models"):
        answer = stranger.get(path, headers=bearer(NOBODYS))
        assert answer.status_code == 503
        assert "10.1.2.3" not in answer.text


def test_readiness_is_told_also_to_a_key_that_cannot_be_looked_up(web, stranger, monkeypatch):
    monkeypatch.setattr(web.services.catalog, "find_key", away)
    answer = stranger.get("/readyz", headers=bearer(NOBODYS))
    assert answer.status_code == 503
    assert {part["name"] for part in answer.json()["parts"]} > {"database", "engine"}


def test_readiness_does_not_wait_for_a_key_that_hangs(web, stranger, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr("app.web.deps._KNOWN_SECONDS", 0.05)
    monkeypatch.setattr(web.services.catalog, "find_key", lambda *_: go_on.wait(60) and None)
    answer = stranger.get("/readyz", headers=bearer(NOBODYS))
    assert not go_on.is_set()
    assert answer.json()["parts"]
    go_on.set()


async def test_a_large_body_while_the_database_is_away_is_worth_another_try(web, monkeypatch):
    monkeypatch.setattr(web.services.catalog, "find_key", away)
    transport = httpx.ASGITransport(app=web.server.config.app)
    headers = bearer(NOBODYS)
    async with httpx.AsyncClient(transport=transport, base_url="http://preread", headers=headers) as client:
        answer = await client.post("/ask", json={"question": "x" * 200_000})
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert answer.headers["retry-after"]
