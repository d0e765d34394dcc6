"""Signing in through a real provider, which runs beside the real web: whole ways round, and where they end."""

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from credentials import new_user
from oidc_servers import free_port, parameters, real_provider
from served_web import web_served
from web_harness import DEADLINE_SECONDS

from app.core.catalog import Catalog
from app.core.settings import Settings
from app.web.access.cookie import COOKIE
from app.web.access.oidc.door import OidcDoor
from app.web.main import create_app

ATTEMPT_COOKIE = "preread_oidc"


@dataclass
class SignOn:
    """A web, its provider, and what is known of both. Each `browser` is one that nobody has used yet."""

    url: str
    issuer: str
    catalog: Catalog
    admin: httpx.Client

    def knows(self, subject: str, **claims) -> None:
        """Have the provider tell this of somebody."""
        httpx.put(f"{self.issuer}/users/{subject}", json=claims).raise_for_status()

    def browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=DEADLINE_SECONDS)

    def back_from_provider(self, browser: httpx.Client, subject: str, following: str = "/", **tampered: str) -> str:
        """Begin, sign in at the provider, and give back the address that it sends the browser to."""
        left = browser.get("/auth/oidc/start", params={"next": following})
        assert left.status_code == 302
        assert left.headers["location"].startswith(f"{self.issuer}/")
        sent = parameters(left.headers["location"]) | tampered
        address = urlsplit(left.headers["location"])._replace(query=urlencode(sent)).geturl()
        form = {"action": "deny"} if subject == "nobody" else {"sub": subject}
        back: str = httpx.post(address, data=form).headers["location"]
        return back

    def sign_in(self, browser: httpx.Client, subject: str, following: str = "/") -> httpx.Response:
        return browser.get(self.back_from_provider(browser, subject, following))

    def audited(self, action: str) -> list[str]:
        page = self.admin.get("/admin/audit", params={"limit": 500}).json()
        return [f"{entry['actor']}: {entry['target']}" for entry in page["items"] if entry["action"] == action]


@pytest.fixture(scope="module")
def sign_on(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sign-on")
    port = free_port()
    with real_provider(folder) as issuer:
        settings = Settings(
            state_dir=folder / "state",
            engine_url=engine.url,
            public_url=f"http://127.0.0.1:{port}",
            oidc_issuer=issuer,
            oidc_client_id="preread",
            oidc_client_secret="secret of the tests",
            oidc_name="Company sign-in",
            oidc_roles="preread-admins=admin;writers=editor;staff=reader",
        )
        app = create_app(settings)
        with web_served(app, settings, port=port, timeout_seconds=DEADLINE_SECONDS) as (_, client):
            yield SignOn(settings.public_url, issuer, app.state.services.catalog, client)


@pytest.fixture
def browser(sign_on):
    with sign_on.browser() as browser:
        yield browser


def failed_with(answer: httpx.Response, code: str) -> bool:
    """Sent back to the pages with this code, and signed in as nobody."""
    return parameters(answer.headers["location"]) == {"sign_in": code} and COOKIE not in answer.cookies


def signed_in_as(browser: httpx.Client) -> dict[str, object] | None:
    answer = browser.get("/auth/session")
    return answer.json() if answer.status_code == 200 else None


def test_whoever_the_provider_knows_is_signed_in_with_the_role_of_their_group(sign_on, browser):
    sign_on.knows("ada", preferred_username="ada", groups=["writers", "chess"])
    answer = sign_on.sign_in(browser, "ada", "/#/admin")
    assert (answer.status_code, answer.headers["location"]) == (302, f"{sign_on.url}/#/admin")
    session = signed_in_as(browser)
    assert (session["name"], session["tenant"], session["role"]) == ("ada", "default", "editor")
    assert browser.get("/documents").status_code == 200
    assert browser.get("/admin/keys").status_code == 403
    assert "ada: " in sign_on.audited("sign_in")


def test_the_pages_are_told_that_there_is_a_provider(browser):
    assert browser.get("/auth/methods").json() == {"password": True, "oidc": True, "oidc_name": "Company sign-in"}


def test_cookies_are_out_of_reach_of_scripts_and_the_attempts_is_taken_back(sign_on, browser):
    sign_on.knows("cora", preferred_username="cora", groups=["staff"])
    left = browser.get("/auth/oidc/start")
    (attempt,) = left.headers.get_list("set-cookie")
    assert attempt.startswith(f"{ATTEMPT_COOKIE}=")
    assert {"HttpOnly", "Max-Age=600", "Path=/", "SameSite=lax"} <= {part.strip() for part in attempt.split(";")}
    answer = sign_on.sign_in(browser, "cora")
    session, gone = answer.headers.get_list("set-cookie")
    assert session.startswith(f"{COOKIE}=")
    assert "HttpOnly" in session
    assert gone.startswith(f'{ATTEMPT_COOKIE}=""')
    assert left.headers["cache-control"] == answer.headers["cache-control"] == "no-store"


def test_a_user_is_known_by_issuer_and_subject_and_the_role_is_taken_anew(sign_on, browser):
    sign_on.knows("s-42", preferred_username="bea", email="bea@example.org", groups=["writers"])
    sign_on.sign_in(browser, "s-42")
    assert signed_in_as(browser)["role"] == "editor"
    sign_on.knows("s-42", preferred_username="beatrice", email="b@example.org", groups=["staff"])
    with sign_on.browser() as later:
        sign_on.sign_in(later, "s-42")
        session = signed_in_as(later)
    assert (session["name"], session["role"]) == ("bea", "reader")
    assert sign_on.catalog.find_user("beatrice") is None


def test_a_role_that_was_taken_away_ends_the_sessions_that_had_it(sign_on, browser):
    sign_on.knows("gus", preferred_username="gus", groups=["writers"])
    sign_on.sign_in(browser, "gus")
    sign_on.knows("gus", preferred_username="gus", groups=["staff"])
    with sign_on.browser() as later:
        sign_on.sign_in(later, "gus")
        assert signed_in_as(later)["role"] == "reader"
    assert signed_in_as(browser) is None


def test_nobody_becomes_somebody_else_by_having_their_name_or_address(sign_on, browser):
    admin = new_user(sign_on.catalog, "root")
    sign_on.knows("mallory", preferred_username="root", email="root", groups=["staff"])
    sign_on.sign_in(browser, "mallory")
    session = signed_in_as(browser)
    assert session["name"].startswith("root-")
    assert session["role"] == "reader"
    assert sign_on.catalog.find_user("root") == admin


def test_without_a_group_nobody_is_signed_in_or_made_a_user(sign_on, browser):
    sign_on.knows("eve", preferred_username="eve", groups=["chess"])
    assert failed_with(sign_on.sign_in(browser, "eve"), "oidc_no_role")
    assert signed_in_as(browser) is None
    assert sign_on.catalog.find_user("eve") is None
    assert ": oidc_no_role: eve (eve)" in sign_on.audited("sign_in.failed")


def test_a_disabled_user_stays_out(sign_on, browser):
    sign_on.knows("dan", preferred_username="dan", groups=["staff"])
    sign_on.sign_in(browser, "dan")
    sign_on.catalog.change_user("default", "dan", disabled=True)
    with sign_on.browser() as later:
        assert failed_with(sign_on.sign_in(later, "dan"), "user_disabled")


def test_a_state_that_was_not_given_to_this_browser_is_refused(sign_on, browser):
    sign_on.knows("ada", preferred_username="ada", groups=["writers"])
    back = sign_on.back_from_provider(browser, "ada")
    answer = browser.get(back.replace("state=", "state=x"))
    assert failed_with(answer, "oidc_state")
    assert signed_in_as(browser) is None


def test_another_browser_cannot_finish_what_one_has_begun(sign_on, browser):
    sign_on.knows("ada", preferred_username="ada", groups=["writers"])
    back = sign_on.back_from_provider(browser, "ada")
    with sign_on.browser() as victim:
        assert failed_with(victim.get(back), "oidc_state")
        victim.get("/auth/oidc/start")
        assert failed_with(victim.get(back), "oidc_state")


def test_a_code_is_good_once_even_with_its_cookie(sign_on, browser):
    sign_on.knows("ada", preferred_username="ada", groups=["writers"])
    back = sign_on.back_from_provider(browser, "ada")
    kept = browser.cookies[ATTEMPT_COOKIE]
    assert COOKIE in browser.get(back).cookies
    assert failed_with(browser.get(back), "oidc_state"), "the attempt's cookie is gone"
    with sign_on.browser() as thief:
        thief.cookies.set(ATTEMPT_COOKIE, kept)
        assert failed_with(thief.get(back), "oidc_refused")


def test_an_id_token_with_another_nonce_is_refused(sign_on, browser):
    sign_on.knows("ada", preferred_username="ada", groups=["writers"])
    back = sign_on.back_from_provider(browser, "ada", nonce="of-somebody-else")
    assert failed_with(browser.get(back), "oidc_token")
    assert ": oidc_token" in sign_on.audited("sign_in.failed")


def test_who_says_no_at_the_provider_comes_back_without_a_session(sign_on, browser):
    back = sign_on.back_from_provider(browser, "nobody")
    assert parameters(back)["error"] == "access_denied"
    assert failed_with(browser.get(back), "oidc_denied")
    assert signed_in_as(browser) is None


@pytest.mark.parametrize("query", ["", "?code=a", "?state=a", "?code=a&state=a", "?state=%00%0d%0a&code=%ff"])
def test_a_callback_that_nobody_began_is_no_error_of_the_server(browser, query):
    assert failed_with(browser.get(f"/auth/oidc/callback{query}"), "oidc_state")


@pytest.mark.parametrize("following", ["https://evil.example.org", "//evil.example.org", "/\\evil.example.org", "evil"])
def test_nobody_is_sent_elsewhere_after_signing_in(sign_on, browser, following):
    sign_on.knows("cora", preferred_username="cora", groups=["staff"])
    assert sign_on.sign_in(browser, "cora", following).headers["location"] == f"{sign_on.url}/"


@pytest.mark.parametrize("path", ["/auth/oidc/start", "/auth/oidc/callback?code=a&state=b"])
def test_where_no_provider_is_set_up_the_pages_say_so(web, path):
    answer = httpx.get(f"{web.client.base_url}{path}")
    assert (answer.status_code, answer.headers["location"]) == (302, "/?sign_in=oidc_off")


def test_a_provider_that_is_down_is_told_on_the_pages(sign_on):
    settings = Settings(
        public_url="https://preread.example.org",
        oidc_issuer=f"http://127.0.0.1:{free_port()}",
        oidc_client_id="preread",
        oidc_default_role="reader",
    )
    door = OidcDoor(settings, sign_on.catalog)
    assert door.leave("/").headers["location"] == "https://preread.example.org/?sign_in=oidc_unavailable"
    door.close()


def test_over_https_the_attempts_cookie_is_this_hosts_alone(sign_on):
    settings = Settings(
        public_url="https://preread.example.org",
        oidc_issuer=sign_on.issuer,
        oidc_client_id="preread",
        oidc_default_role="reader",
    )
    door = OidcDoor(settings, sign_on.catalog)
    cookie = door.leave("/").headers["set-cookie"]
    assert cookie.startswith("__Host-preread_oidc=")
    assert "Secure" in cookie
    door.close()


def test_a_failure_that_nobody_thought_of_sends_the_browser_back_too(sign_on, browser, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("a secret of the inside")

    sign_on.knows("ada", preferred_username="ada", groups=["writers"])
    monkeypatch.setattr(sign_on.catalog, "user_of_subject", broken)
    assert failed_with(sign_on.sign_in(browser, "ada"), "oidc_failed")
