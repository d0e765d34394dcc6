"""The two steps of signing in through a provider, as a browser takes them: away, and back in.

Whatever goes wrong, the browser comes back to the pages, which say why; it never sees an error of the server.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.responses import RedirectResponse

from app.core.catalog import Catalog
from app.core.errors import PrereadError
from app.core.settings import Settings
from app.web.access.audit import Action, Audit
from app.web.access.cookie import set_session_cookie
from app.web.access.oidc.attempt import LIFE_SECONDS, Attempt, Seal
from app.web.access.oidc.client import OidcClient, OidcIdentity
from app.web.access.oidc.errors import OidcError, OidcOff, ProviderDenied
from app.web.access.oidc.following import own_path
from app.web.access.oidc.provider import Provider
from app.web.access.oidc.users import OidcUsers
from app.web.access.signing_in import SigningIn

log = logging.getLogger(__name__)

_STATUS = 302


@dataclass(frozen=True)
class Return:
    """What the browser comes back from the provider with; `sealed` is the cookie that it left with.

    `error` stands there in place of a code.
    """

    code: str
    state: str
    error: str
    sealed: str


class OidcDoor:
    """Opened and closed with the application. Blocking: it asks the provider and the database."""

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self._settings = settings
        self._provider = Provider(settings.oidc_issuer) if settings.oidc_issuer else None
        self._client = OidcClient(settings, self._provider) if self._provider is not None else None
        self._users = OidcUsers(catalog, settings)
        self._seal = Seal(settings)
        self._secure = settings.public_url.startswith("https://")
        # A browser lets nobody but this very host set a cookie whose name begins so.
        self.cookie = "__Host-preread_oidc" if self._secure else "preread_oidc"

    def close(self) -> None:
        if self._provider is not None:
            self._provider.close()

    def leave(self, following: str) -> RedirectResponse:
        """To the provider; `following`: the page to show at the end."""
        return self._guarded(lambda: self._to_provider(Attempt.new(own_path(following))))

    def enter(self, returned: Return, signing_in: SigningIn, audit: Audit) -> RedirectResponse:
        """Back from the provider, and signed in."""
        response = self._guarded(lambda: self._entered(returned, signing_in, audit))
        response.delete_cookie(self.cookie, path="/", secure=self._secure, httponly=True, samesite="lax")
        return response

    def _to_provider(self, attempt: Attempt) -> RedirectResponse:
        response = RedirectResponse(self._open_client().start(attempt), _STATUS)
        sealed = self._seal.close(attempt)
        response.set_cookie(
            self.cookie, sealed, LIFE_SECONDS, path="/", secure=self._secure, httponly=True, samesite="lax"
        )
        return response

    def _entered(self, returned: Return, signing_in: SigningIn, audit: Audit) -> RedirectResponse:
        client = self._open_client()
        if returned.error:
            # Nobody is signed in by it, so it need not say whose answer it is: not every provider does.
            raise ProviderDenied(f"The provider says {returned.error[:100]!r}.", "Try again.")
        attempt = self._seal.open(returned.sealed, returned.state)
        identity: OidcIdentity | None = None
        try:
            identity = client.finish(returned.code, attempt)
            user = self._users.user_of(identity)
        except PrereadError as error:
            audit.note(Action.SIGN_IN_FAILED, _told(error, identity))
            raise
        response = RedirectResponse(self._settings.public_url + attempt.following, _STATUS)
        set_session_cookie(response, signing_in.open(user, audit), self._settings)
        return response

    def _open_client(self) -> OidcClient:
        if self._client is None:
            raise OidcOff("No sign-in provider is set up.", "PREREAD_OIDC_ISSUER names one.")
        return self._client

    def _guarded(self, step: Callable[[], RedirectResponse]) -> RedirectResponse:
        try:
            response = step()
        except PrereadError as error:
            log.warning("a sign-in through the provider failed, %s: %s", error.code, error)
            response = self._sent_back(error.code)
        except Exception:
            log.exception("a sign-in through the provider failed")
            response = self._sent_back(OidcError.code)
        response.headers["Cache-Control"] = "no-store"
        return response

    def _sent_back(self, code: str) -> RedirectResponse:
        return RedirectResponse(f"{self._settings.public_url}/?{urlencode({'sign_in': code})}", _STATUS)


def _told(error: PrereadError, identity: OidcIdentity | None) -> str:
    return error.code if identity is None else f"{error.code}: {identity.name or identity.email} ({identity.subject})"
