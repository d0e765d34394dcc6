"""What the client believes of a provider, and what it does not. The provider is a process of its own."""

import threading
from dataclasses import replace

import httpx
import pytest
from file_server import serving
from oidc_servers import flawed_provider, free_port, parameters
from waiting import wait_until

from app.core.settings import Settings
from app.web.access.oidc.attempt import LIFE_SECONDS, Attempt, Seal
from app.web.access.oidc.client import OidcClient
from app.web.access.oidc.errors import AttemptLost, BadIdToken, CodeRefused, ProviderUnavailable
from app.web.access.oidc.provider import Provider

BAD_TOKENS = [
    "expired",
    "not_yet",
    "endless",
    "another_issuer",
    "another_audience",
    "another_party",
    "another_nonce",
    "no_nonce",
    "no_subject",
    "empty_subject",
    "endless_subject",
    "foreign_key",
    "unknown_key",
    "damaged",
    "unsigned",
    "shared_secret",
]


def settings_for(issuer: str, **more) -> Settings:
    given = {
        "oidc_issuer": issuer,
        "oidc_client_id": "preread",
        "oidc_client_secret": "s3cret: +/ü",
        "oidc_roles": "staff=reader",
        "public_url": "https://preread.example.org",
    }
    return Settings(**given | more)


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    with flawed_provider(tmp_path_factory.mktemp("provider")) as issuer:
        yield issuer


@pytest.fixture
def provider(issuer):
    provider = Provider(issuer)
    yield provider
    provider.close()


@pytest.fixture
def client(issuer, provider):
    return OidcClient(settings_for(issuer), provider)


def code_for(client: OidcClient, attempt: Attempt, flaw: str = "") -> str:
    """What the provider sends a browser back with."""
    answer = httpx.get(f"{client.start(attempt)}&flaw={flaw}")
    back = parameters(answer.headers["location"])
    assert back["state"] == attempt.state
    return back["code"]


def asked(issuer: str, path: str) -> int:
    count: int = httpx.get(f"{issuer}/asked").json().get(path, 0)
    return count


def test_a_browser_is_sent_with_state_nonce_and_a_challenge_but_not_the_verifier(client, issuer):
    attempt = Attempt.new("/")
    url = client.start(attempt)
    assert url.startswith(f"{issuer}/authorize?")
    sent = parameters(url)
    assert sent == {
        "response_type": "code",
        "client_id": "preread",
        "redirect_uri": "https://preread.example.org/auth/oidc/callback",
        "scope": "openid profile email",
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": attempt.challenge,
        "code_challenge_method": "S256",
    }
    assert attempt.verifier not in url


def test_the_challenge_is_that_of_the_standard():
    """RFC 7636, appendix B."""
    attempt = Attempt("s", "n", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "/")
    assert attempt.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_no_two_attempts_are_alike():
    first, second = Attempt.new("/"), Attempt.new("/")
    assert not {first.state, first.nonce, first.verifier} & {second.state, second.nonce, second.verifier}


def test_a_good_code_tells_who_it_is(client, issuer):
    attempt = Attempt.new("/")
    identity = client.finish(code_for(client, attempt), attempt)
    assert (identity.issuer, identity.subject, identity.name) == (issuer, "somebody", "some.body")
    assert identity.claims["groups"] == ["staff"]


@pytest.mark.parametrize("flaw", BAD_TOKENS)
def test_an_id_token_with_a_flaw_is_refused(client, flaw):
    attempt = Attempt.new("/")
    with pytest.raises(BadIdToken):
        client.finish(code_for(client, attempt, flaw), attempt)


def test_a_code_is_good_once(client):
    attempt = Attempt.new("/")
    code = code_for(client, attempt)
    client.finish(code, attempt)
    with pytest.raises(CodeRefused, match="this code is not good"):
        client.finish(code, attempt)


def test_a_code_is_good_for_whoever_began_alone(client):
    attempt = Attempt.new("/")
    code = code_for(client, attempt)
    with pytest.raises(CodeRefused, match="verifier"):
        client.finish(code, replace(attempt, verifier=Attempt.new("/").verifier))


def test_the_provider_is_asked_for_its_keys_once_and_again_when_it_has_new_ones(client, issuer):
    before = asked(issuer, "/keys")
    for _ in range(2):
        attempt = Attempt.new("/")
        client.finish(code_for(client, attempt), attempt)
    assert asked(issuer, "/keys") == before + 1
    httpx.get(f"{issuer}/rotate")
    attempt = Attempt.new("/")
    client.finish(code_for(client, attempt), attempt)
    assert asked(issuer, "/keys") == before + 2


def test_what_the_provider_said_of_itself_and_its_keys_count_for_an_hour(issuer):
    now = 0.0
    provider = Provider(issuer, lambda: now)
    before = asked(issuer, "/keys")
    provider.keys()
    now = 3599.0
    provider.keys()
    assert asked(issuer, "/keys") == before + 1
    now = 3601.0
    provider.keys()
    assert asked(issuer, "/keys") == before + 2
    provider.close()


def test_groups_that_the_id_token_leaves_out_are_asked_for(client):
    attempt = Attempt.new("/")
    identity = client.finish(code_for(client, attempt, "thin"), attempt)
    assert identity.claims["groups"] == ["staff"]


def test_what_is_told_of_another_user_is_not_believed(client):
    attempt = Attempt.new("/")
    with pytest.raises(BadIdToken, match="another user"):
        client.finish(code_for(client, attempt, "thin_and_mistaken"), attempt)


@pytest.mark.parametrize("flaw", ["broken", "no_token"])
def test_a_provider_out_of_order_is_unavailable(client, flaw):
    attempt = Attempt.new("/")
    with pytest.raises(ProviderUnavailable):
        client.finish(code_for(client, attempt, flaw), attempt)


def test_a_provider_that_is_down_is_unavailable():
    provider = Provider(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(ProviderUnavailable, match="does not answer"):
        provider.metadata()
    provider.close()


def test_a_provider_that_hangs_keeps_only_so_many_waiting_and_not_for_long():
    with serving() as server:
        server.answers["/.well-known/openid-configuration"] = lambda _: server.stopping.wait()
        provider = Provider(f"http://127.0.0.1:{server.port}", time_out=httpx.Timeout(2))
        failures: list[ProviderUnavailable] = []

        def ask() -> None:
            try:
                provider.metadata()
            except ProviderUnavailable as error:
                failures.append(error)

        waiting = [threading.Thread(target=ask) for _ in range(8)]
        for thread in waiting:
            thread.start()
        wait_until(lambda: len(server.asked) == 8, "eight wait")
        with pytest.raises(ProviderUnavailable, match="Too many"):
            provider.metadata()
        for thread in waiting:
            thread.join()
        assert len(failures) == 8
        server.stopping.set()
        provider.close()


METADATA = {
    "issuer": "ISSUER",
    "authorization_endpoint": "ISSUER/authorize",
    "token_endpoint": "ISSUER/token",
    "jwks_uri": "ISSUER/keys",
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "https://elsewhere.example.org"},
        {"token_endpoint": "http://elsewhere.example.org/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": None},
    ],
    ids=["another issuer", "in the clear", "no web address", "missing"],
)
def test_a_provider_that_describes_itself_wrongly_is_not_used(wrong):
    with serving() as server:
        issuer = f"http://127.0.0.1:{server.port}"
        described = httpx.Response(200, json=METADATA | wrong).text.replace("ISSUER", issuer)
        server.answers["/.well-known/openid-configuration"] = described.encode()
        provider = Provider(issuer)
        with pytest.raises(ProviderUnavailable):
            provider.metadata()
        provider.close()


@pytest.mark.parametrize("keys", [b'{"keys": []}', b'{"keys": 3}', b"{}", b'{"keys": [{"kty": "RSA"}]}', b"no JSON"])
def test_keys_that_cannot_be_read_are_an_unavailable_provider(keys):
    with serving() as server:
        issuer = f"http://127.0.0.1:{server.port}"
        described = httpx.Response(200, json=METADATA).text.replace("ISSUER", issuer)
        server.answers["/.well-known/openid-configuration"] = described.encode()
        server.answers["/keys"] = keys
        provider = Provider(issuer)
        with pytest.raises(ProviderUnavailable):
            provider.keys()
        provider.close()


def test_an_attempt_is_opened_by_the_state_it_was_sealed_with_for_ten_minutes():
    now = 1_000.0
    seal = Seal(settings_for("https://login.example.org"), lambda: now)
    attempt = Attempt.new("/#/admin")
    sealed = seal.close(attempt)
    now += LIFE_SECONDS
    assert seal.open(sealed, attempt.state) == attempt
    assert attempt.verifier not in sealed
    for state in ("", attempt.state[:-1], "ü", Attempt.new("/").state):
        with pytest.raises(AttemptLost):
            seal.open(sealed, state)
    now += 1
    with pytest.raises(AttemptLost):
        seal.open(sealed, attempt.state)


@pytest.mark.parametrize("sealed", ["", "nonsense", "ü", "gAAAAA=="])
def test_what_was_never_sealed_is_no_attempt(sealed):
    with pytest.raises(AttemptLost):
        Seal(settings_for("https://login.example.org")).open(sealed, "state")


def test_webs_that_share_a_secret_open_each_others_attempts_and_others_do_not():
    settings = settings_for("https://login.example.org")
    attempt = Attempt.new("/")
    sealed = Seal(settings).close(attempt)
    assert Seal(settings).open(sealed, attempt.state) == attempt
    stranger = settings_for("https://login.example.org", oidc_client_secret="another")
    public = settings_for("https://login.example.org", oidc_client_secret="")
    for other in (stranger, public):
        with pytest.raises(AttemptLost):
            Seal(other).open(sealed, attempt.state)
