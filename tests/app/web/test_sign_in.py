"""Signing in by name and password: the session, its cookie, and when it ends."""

from itertools import count

import httpx
import pytest
from credentials import PASSWORD, new_user

from app.core.access import Role
from app.web.access import signing_in
from app.web.access.cookie import COOKIE, CSRF_HEADER

names = count()


@pytest.fixture
def browser(web):
    """Makes clients that keep cookies and send no key."""
    opened = []

    def browser(**headers):
        opened.append(httpx.Client(base_url=web.client.base_url, headers=headers, timeout=30))
        return opened[-1]

    yield browser
    for client in opened:
        client.close()


@pytest.fixture
def user(web):
    def user(role=Role.ADMIN, tenant="default"):
        return new_user(web.services.catalog, f"user-{next(names)}", role, tenant)

    return user


def sign_in(client, name, password=PASSWORD, **headers):
    return client.post("/auth/session", json={"name": name, "password": password}, headers=headers)


@pytest.fixture
def signed_in(browser, user):
    """A browser that is signed in, the session object, and the user."""

    def signed_in(**of_user):
        who, client = user(**of_user), browser()
        answer = sign_in(client, who.name)
        assert answer.status_code == 200, answer.text
        return client, answer.json(), who

    return signed_in


def test_who_signs_in_is_told_who_they_are_and_what_they_may_do(signed_in):
    client, session, who = signed_in(role=Role.EDITOR)
    assert (session["name"], session["tenant"], session["role"]) == (who.name, "default", "editor")
    assert session["permissions"] == ["ask", "documents:read", "documents:write"]
    assert session["methods"]["password"] is True
    assert client.get("/auth/session").json() == session
    assert client.get("/documents").status_code == 200
    assert client.get("/admin/cache").status_code == 403


def test_the_cookie_is_kept_from_scripts_and_other_sites(browser, user):
    answer = sign_in(browser(), user().name)
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"{COOKIE}=")
    assert {"httponly", "samesite=lax", "path=/", "max-age=43200"} <= set(cookie.split("; "))
    assert "secure" not in cookie


def test_over_https_the_cookie_is_sent_over_https_alone(web, browser, user, monkeypatch):
    settings = web.services.settings.model_copy(update={"public_url": "https://preread.example.org"})
    monkeypatch.setitem(web.services.__dict__, "settings", settings)
    assert "secure" in sign_in(browser(), user().name).headers["set-cookie"].lower().split("; ")


def test_nobody_signed_in_is_told_so_and_how_to_sign_in(browser):
    client = browser()
    answer = client.get("/auth/session")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert client.get("/auth/methods").json()["password"] is True


@pytest.mark.parametrize("wrong", ["the password", "the name", "both disabled and right"])
def test_whatever_is_wrong_the_answer_is_the_same(web, browser, user, wrong):
    who = user(role=Role.READER)
    name = "nobody-of-that-name" if wrong == "the name" else who.name
    password = "not the password" if wrong == "the password" else PASSWORD
    if wrong == "both disabled and right":
        web.services.catalog.change_user("default", who.name, disabled=True)
    answer = sign_in(browser(), name, password)
    assert answer.status_code == 401
    assert (answer.json()["code"], answer.json()["detail"]) == (
        "sign_in_failed",
        "The name or the password is wrong.",
    )
    assert "set-cookie" not in answer.headers


def test_an_unknown_name_costs_the_same_work(browser, user, monkeypatch):
    compared = []
    real = signing_in.is_password
    monkeypatch.setattr(signing_in, "is_password", lambda *given: compared.append(given[1]) or real(*given))
    sign_in(browser(), "nobody-of-that-name", "not the password")
    sign_in(browser(), user().name, "not the password")
    assert len(compared) == 2
    assert compared[0] is None


def test_too_many_tries_have_to_wait(browser, user):
    who, client = user(), browser()
    answers = [sign_in(client, who.name, "not the password") for _ in range(11)]
    assert {answer.status_code for answer in answers[:-1]} == {401}
    last = answers[-1]
    assert (last.status_code, last.json()["code"]) == (429, "too_many_attempts")
    assert 0 < int(last.headers["retry-after"]) <= 15 * 60
    assert sign_in(client, who.name).status_code == 429, "not even with the right password"
    assert sign_in(client, user().name).status_code == 200, "others may go on"


def test_the_right_password_makes_the_tries_before_it_forgotten(browser, user):
    who, client = user(), browser()
    for _ in range(3):
        for _ in range(9):
            assert sign_in(client, who.name, "not the password").status_code == 401
        assert sign_in(client, who.name).status_code == 200


def test_signing_out_ends_the_session(signed_in, browser):
    client, session, _ = signed_in()
    cookie = client.cookies[COOKIE]
    assert client.delete("/auth/session", headers={CSRF_HEADER: session["csrf_token"]}).status_code == 204
    assert COOKIE not in client.cookies
    assert browser(Cookie=f"{COOKIE}={cookie}").get("/auth/session").status_code == 401


@pytest.mark.parametrize("change", ["password", "role", "disabled"])
def test_an_admins_change_of_a_user_ends_their_session_at_once(web, signed_in, change):
    client, _, who = signed_in(role=Role.EDITOR)
    assert client.get("/documents").status_code == 200
    path = f"/admin/users/{who.name}"
    if change == "password":
        answer = web.client.post(f"{path}/password", json={"password": "another password"})
    else:
        answer = web.client.patch(path, json={"role": "reader"} if change == "role" else {"disabled": True})
    assert answer.status_code == 200, answer.text
    assert client.get("/documents").status_code == 401


UNSAFE = [("POST", "/precompute"), ("DELETE", "/documents/doc_none"), ("PUT", "/documents/doc_none/labels")]


@pytest.mark.parametrize(("method", "path"), UNSAFE)
@pytest.mark.parametrize("token", [None, "", "wrong", "another session's"])
def test_by_cookie_nothing_is_changed_without_the_sessions_token(signed_in, method, path, token):
    client, _, _ = signed_in()
    if token == "another session's":
        token = signed_in()[1]["csrf_token"]
    headers = {} if token is None else {CSRF_HEADER: token}
    answer = client.request(method, path, headers=headers, json={})
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 404),
        ("http://{own}", 404),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://{own}.evil.example", 403),
    ],
)
def test_by_cookie_other_sites_pages_change_nothing(signed_in, web, origin, status):
    client, session, _ = signed_in()
    headers = {CSRF_HEADER: session["csrf_token"]}
    if origin is not None:
        headers["Origin"] = origin.format(own=web.client.base_url.netloc.decode())
    assert client.delete("/documents/doc_none", headers=headers).status_code == status


def test_another_sites_page_signs_nobody_in(browser, user):
    answer = sign_in(browser(), user().name, Origin="https://evil.example")
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf")


def test_a_key_needs_no_token_beside_a_cookie(web, signed_in):
    client, _, _ = signed_in()
    answer = client.delete("/documents/doc_none", headers=dict(web.client.headers))
    assert answer.status_code == 404


def test_the_database_holds_neither_cookie_nor_password(signed_in, web):
    client, _, _ = signed_in()
    held = b"".join(path.read_bytes() for path in web.services.settings.state_dir.glob("preread.db*"))
    assert client.cookies[COOKIE].encode() not in held
    assert PASSWORD.encode() not in held
    assert b"$argon2id$" in held
