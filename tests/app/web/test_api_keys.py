"""Requests by API key: which are let in, as whom, and what those hear that are not."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from credentials import bearer, new_key
from web_harness import wait_until

from app.core.access import Permission, Role
from app.core.key_token import digest_of, new_secret, parts_of, token_of
from app.web.access import gatekeeper
from app.web.access.cookie import COOKIE

PAST = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture
def get(web):
    """A GET with these headers alone."""

    def get(headers, path="/documents"):
        return httpx.get(f"{web.client.base_url}{path}", headers=headers)

    return get


@pytest.fixture
def new(web):
    def new(**more):
        return new_key(web.services.catalog, **more)

    return new


def test_a_key_is_let_in_with_its_roles_permissions(get, new):
    headers = bearer(new(role=Role.READER)[1])
    assert get(headers).status_code == 200
    refused = get(headers, "/admin/cache")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_scopes_narrow_the_role(get, new):
    headers = bearer(new(role=Role.ADMIN, scopes=frozenset({Permission.METRICS}))[1])
    assert get(headers, "/metrics").status_code == 200
    assert get(headers).status_code == 403
    assert get(headers, "/admin/cache").status_code == 403


def broken(token):
    return {
        "another secret": token_of(parts_of(token)[0], new_secret()),
        "another id": token_of("key_00000000000000000000", parts_of(token)[1]),
        "half of it": token[: len(token) // 2],
        "nothing of it": "prk_",
        "no key of ours": "sk-1234",
    }


@pytest.mark.parametrize("how", ["another secret", "another id", "half of it", "nothing of it", "no key of ours"])
def test_every_wrong_key_gets_the_same_answer(get, new, how):
    answer = get(bearer(broken(new()[1])[how]))
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    problem = answer.json()
    assert (problem["code"], problem["detail"]) == ("unauthenticated", "This API key is not known.")


def test_no_credentials_are_told_how_to_send_some(get):
    answer = get({})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert "Bearer" in answer.json()["hint"]
    assert answer.headers["www-authenticate"] == "Bearer"


def test_an_expired_key_is_told_so(get, new):
    answer = get(bearer(new(expires_at=PAST)[1]))
    assert (answer.status_code, answer.json()["code"]) == (401, "key_expired")


def test_whether_a_key_ended_is_told_to_who_has_its_secret_alone(get, new, web):
    expired, (revoked, other) = new(expires_at=PAST)[0], new()
    web.services.catalog.revoke_key("default", revoked.id)
    assert get(bearer(other)).json()["code"] == "key_revoked"
    for key in (expired, revoked):
        assert get(bearer(token_of(key.id, new_secret()))).json()["code"] == "unauthenticated"


def test_a_key_that_another_process_revokes_is_refused_soon(get, new, web):
    key, token = new()
    assert get(bearer(token)).status_code == 200
    web.services.catalog.revoke_key("default", key.id)
    wait_until(lambda: get(bearer(token)).status_code == 401, "the key is no longer remembered")
    assert gatekeeper.REMEMBERED_SECONDS <= 5


def test_a_known_key_costs_no_query(get, new, web, monkeypatch):
    _, token = new()
    assert get(bearer(token), "/auth/session").status_code == 200
    monkeypatch.setattr(web.services.catalog, "find_key", lambda _: pytest.fail("the database was asked"))
    assert get(bearer(token), "/auth/session").status_code == 200


def test_after_a_rotation_both_secrets_are_good_for_the_overlap(get, new, web):
    key, before = new()
    secret = new_secret()
    web.services.catalog.rotate_key("default", key.id, digest_of(secret), timedelta(minutes=5))
    assert get(bearer(token_of(key.id, secret))).status_code == 200
    assert get(bearer(before)).status_code == 200


def test_the_last_use_is_noted(get, new, web):
    key, token = new()
    assert get(bearer(token)).status_code == 200
    wait_until(lambda: web.services.catalog.find_key(key.id).last_used_at, "the use is noted")


def test_where_both_are_sent_the_key_counts(get, new):
    reader = bearer(new(role=Role.READER)[1])
    assert get({**reader, "Cookie": f"{COOKIE}=whatever"}).status_code == 200
    assert get({"Authorization": "Basic Zm9vOmJhcg==", "Cookie": f"{COOKIE}=whatever"}).status_code == 401


def test_a_key_says_who_it_is(get, new):
    shown = get(bearer(new(role=Role.EDITOR)[1]), "/auth/session").json()
    assert (shown["role"], shown["tenant"], shown["csrf_token"]) == ("editor", "default", None)
    assert shown["permissions"] == ["ask", "documents:read", "documents:write"]


def test_the_database_holds_no_secret(new, web):
    _, token = new()
    secret = parts_of(token)[1].encode()
    folder = web.services.settings.state_dir
    held = b"".join(path.read_bytes() for path in folder.glob("preread.db*"))
    assert digest_of(secret.decode()).encode() in held
    assert secret not in held
