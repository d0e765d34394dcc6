"""What those get who are not known: nothing but the few routes that are for everybody."""

import re

import httpx
import pytest
from credentials import admin_headers, bearer, new_key
from fastapi.routing import APIRoute

from app.core.access import Role
from app.core.catalog import Catalog
from app.core.settings import Settings
from app.web.access.guard import anyone, guards_of
from app.web.access.strangers import NobodyKnown, require_somebody
from app.web.deps import require_internal_secret


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
