"""API keys and users as admins handle them over the API."""

from itertools import count

import httpx
import pytest
from credentials import PASSWORD, admin_headers, bearer, new_key, new_user

from app.core.access import Permission, Role

names = count()


@pytest.fixture
def at(web):
    """A client of web with another key."""
    opened = []

    def at(headers):
        opened.append(httpx.Client(base_url=web.client.base_url, headers=headers))
        return opened[-1]

    yield at
    for client in opened:
        client.close()


def user_name():
    return f"kim-{next(names)}"


def test_a_key_is_made_used_rotated_and_revoked(web, at):
    wanted = {"name": "search box", "role": "reader", "scopes": ["ask"], "requests_per_minute": 100}
    made = web.client.post("/admin/keys", json=wanted)
    assert made.status_code == 201, made.text
    key, secret = made.json()["key"], made.json()["secret"]
    assert {name: key[name] for name in wanted} == wanted
    assert at(bearer(secret)).get("/auth/session").status_code == 200

    rotated = web.client.post(f"/admin/keys/{key['id']}/rotate")
    assert rotated.status_code == 200
    assert at(bearer(secret)).get("/auth/session").status_code == 401, "at once, in this process"
    second = rotated.json()["secret"]
    third = web.client.post(f"/admin/keys/{key['id']}/rotate", json={"overlap_minutes": 5}).json()["secret"]
    assert {at(bearer(each)).get("/auth/session").status_code for each in (second, third)} == {200}

    assert web.client.delete(f"/admin/keys/{key['id']}").status_code == 204
    assert at(bearer(third)).get("/auth/session").json()["code"] == "key_revoked"
    listed = {each["id"]: each for each in web.client.get("/admin/keys").json()["items"]}
    assert listed[key["id"]]["revoked_at"]
    assert not any(each in str(listed) for each in (secret, second, third))


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"name": "x", "role": "reader", "scopes": ["documents:write"]}, "bad_scopes"),
        ({"name": "  "}, "bad_access_name"),
        ({"name": "x\x00y"}, "bad_access_name"),
        ({"name": "x" * 101}, "bad_input"),
        ({"name": "x", "role": "owner"}, "bad_input"),
        ({"name": "x", "expires_at": "2030-01-01T00:00:00"}, "bad_input"),
        ({"name": "x", "requests_per_minute": -1}, "bad_input"),
    ],
)
def test_a_key_that_cannot_be_is_refused(web, wanted, code):
    answer = web.client.post("/admin/keys", json=wanted)
    assert (answer.status_code, answer.json()["code"]) == (422, code)


@pytest.fixture
def administrator(web, at):
    """May administer, and nothing else."""
    scopes = frozenset({Permission.ADMIN})
    return at(bearer(new_key(web.services.catalog, scopes=scopes)[1]))


def test_nobody_gives_a_key_more_than_they_have(web, administrator):
    for wanted in ({"role": "reader"}, {"role": "admin"}, {"role": "admin", "scopes": ["admin", "metrics"]}):
        answer = administrator.post("/admin/keys", json={"name": "more", **wanted})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert administrator.post("/admin/keys", json={"name": "same", "role": "admin", "scopes": ["admin"]}).is_success


def test_nobody_gets_a_stronger_keys_secret_by_rotating_it(web, administrator):
    stronger, token = new_key(web.services.catalog)
    assert administrator.post(f"/admin/keys/{stronger.id}/rotate").status_code == 403
    assert httpx.get(f"{web.client.base_url}/documents", headers=bearer(token)).status_code == 200


def test_nobody_becomes_a_stronger_user_by_their_password(web, administrator):
    stronger = new_user(web.services.catalog, user_name())
    assert administrator.post(f"/admin/users/{stronger.name}/password").status_code == 403
    assert administrator.post("/admin/users", json={"name": user_name(), "role": "reader"}).status_code == 403
    weaker = new_user(web.services.catalog, user_name(), Role.READER)
    answer = administrator.patch(f"/admin/users/{weaker.name}", json={"role": "admin"})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_user_is_made_with_a_password_that_is_told_once(web):
    name = user_name()
    made = web.client.post("/admin/users", json={"name": name, "role": "editor"})
    assert made.status_code == 201
    password = made.json()["password"]
    assert len(password) >= 20
    session = httpx.post(f"{web.client.base_url}/auth/session", json={"name": name, "password": password})
    assert session.json()["role"] == "editor"
    shown = {user["name"]: user for user in web.client.get("/admin/users").json()["items"]}[name]
    assert (shown["role"], shown["disabled"], shown["has_password"]) == ("editor", False, True)
    assert password not in str(shown)


def test_a_password_that_was_sent_is_not_told(web):
    made = web.client.post("/admin/users", json={"name": user_name(), "password": PASSWORD})
    assert (made.status_code, made.json()["password"]) == (201, None)
    assert PASSWORD not in made.text


@pytest.mark.parametrize(
    ("wanted", "status", "code"),
    [
        ({"name": "kim", "password": "short"}, 422, "weak_password"),
        ({"name": "kim kim"}, 422, "bad_access_name"),
        ({"name": "../kim"}, 422, "bad_access_name"),
    ],
)
def test_a_user_who_cannot_be_is_refused(web, wanted, status, code):
    answer = web.client.post("/admin/users", json=wanted)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_name_is_taken_in_every_tenant(web, at):
    name = user_name()
    assert web.client.post("/admin/users", json={"name": name}).status_code == 201
    answer = at(admin_headers(web.services.catalog, "other")).post("/admin/users", json={"name": name})
    assert (answer.status_code, answer.json()["code"]) == (409, "user_exists")


def test_the_last_admin_of_a_tenant_is_not_locked_out(web, at):
    alone = new_user(web.services.catalog, user_name(), tenant="lonely")
    client = at(admin_headers(web.services.catalog, "lonely"))
    for change in ({"disabled": True}, {"role": "reader"}):
        answer = client.patch(f"/admin/users/{alone.name}", json=change)
        assert (answer.status_code, answer.json()["code"]) == (409, "last_admin")


def test_who_is_no_admin_manages_nothing(web, at):
    editor = at(bearer(new_key(web.services.catalog, role=Role.EDITOR)[1]))
    for method, path in (("GET", "keys"), ("POST", "keys"), ("GET", "users"), ("POST", "users"), ("GET", "audit")):
        assert editor.request(method, f"/admin/{path}", json={"name": "x"}).status_code == 403
