"""The sign-in provider over the network: what it says of itself, its keys, its tokens. Blocking."""

import time
from collections.abc import Callable, Mapping
from threading import BoundedSemaphore
from typing import Annotated, Any, cast
from urllib.parse import quote_plus, urlsplit

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, KeySetSerialization
from pydantic import AfterValidator, BaseModel, ValidationError

from app.web.access.oidc.errors import CodeRefused, ProviderUnavailable

_TIME_OUT = httpx.Timeout(10, connect=5)
_AT_ONCE = 8
_KEPT_SECONDS = 3600.0
_DISCOVERY = "/.well-known/openid-configuration"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_REFUSALS = (400, 401, 403)
_HINT = "Try again in a while; the log of the web process has the details."


def _protected(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise ValueError("not https")
    return url


Endpoint = Annotated[str, AfterValidator(_protected)]


class Metadata(BaseModel):
    """What a provider says of itself (OpenID Connect Discovery 1.0, section 3), as far as it is used."""

    issuer: str
    authorization_endpoint: Endpoint
    token_endpoint: Endpoint
    jwks_uri: Endpoint
    userinfo_endpoint: Endpoint | None = None
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]


class Tokens(BaseModel):
    id_token: str
    access_token: str = ""


class Provider:
    """Every request to the provider has a time limit, and there are only so many at once."""

    def __init__(
        self, issuer: str, clock: Callable[[], float] = time.monotonic, time_out: httpx.Timeout = _TIME_OUT
    ) -> None:
        self._issuer = issuer.rstrip("/")
        self._clock = clock
        self._client = httpx.Client(timeout=time_out, headers={"Accept": "application/json"})
        self._slots = BoundedSemaphore(_AT_ONCE)
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: tuple[float, KeySet] | None = None

    def close(self) -> None:
        self._client.close()

    def metadata(self) -> Metadata:
        """Asked for once an hour. Raises ProviderUnavailable."""
        if self._metadata is None or self._metadata[0] < self._clock():
            sent = self._json("GET", self._issuer + _DISCOVERY)
            try:
                found = Metadata.model_validate(sent)
            except ValidationError as error:
                raise ProviderUnavailable(f"{self._issuer} is no OpenID provider: {error}", _HINT) from error
            if found.issuer.rstrip("/") != self._issuer:
                raise ProviderUnavailable(f"{self._issuer} calls itself {found.issuer}.", _HINT)
            self._metadata = self._clock() + _KEPT_SECONDS, found
        return self._metadata[1]

    def keys(self, *, anew: bool = False) -> KeySet:
        """Asked for once an hour, or `anew`. Raises ProviderUnavailable."""
        if anew or self._keys is None or self._keys[0] < self._clock():
            sent = self._json("GET", self.metadata().jwks_uri)
            try:
                found = KeySet.import_key_set(cast("KeySetSerialization", sent))
            except (JoseError, ValueError, KeyError, TypeError) as error:
                raise ProviderUnavailable(f"The keys of {self._issuer} cannot be read: {error}", _HINT) from error
            self._keys = self._clock() + _KEPT_SECONDS, found
        return self._keys[1]

    def exchange(self, form: Mapping[str, str], client_id: str, client_secret: str) -> Tokens:
        """A code for tokens. Raises CodeRefused, ProviderUnavailable."""
        metadata = self.metadata()
        more: dict[str, Any] = {"data": {**form, "client_id": client_id}}
        if client_secret and "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            # RFC 6749, section 2.3.1: both are form-encoded first.
            more = {"data": dict(form), "auth": (quote_plus(client_id), quote_plus(client_secret))}
        elif client_secret:
            more["data"]["client_secret"] = client_secret
        sent = self._json("POST", metadata.token_endpoint, **more)
        try:
            return Tokens.model_validate(sent)
        except ValidationError as error:
            raise ProviderUnavailable(f"{self._issuer} answered a code with no id token.", _HINT) from error

    def user_info(self, access_token: str) -> dict[str, Any]:
        """What it tells of a user beyond the id token; nothing where it has no such address.

        Raises CodeRefused, ProviderUnavailable.
        """
        address = self.metadata().userinfo_endpoint
        if address is None or not access_token:
            return {}
        return self._json("GET", address, headers={"Authorization": f"Bearer {access_token}"})

    def _json(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        if not self._slots.acquire(blocking=False):
            raise ProviderUnavailable("Too many sign-ins wait for the provider.", _HINT)
        try:
            response = self._client.request(method, url, **more)
            sent = response.json()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ProviderUnavailable(f"{url} does not answer: {error!r}", _HINT) from error
        except ValueError as error:
            raise ProviderUnavailable(f"{url} answered {response.status_code} and no JSON.", _HINT) from error
        finally:
            self._slots.release()
        if response.status_code in _REFUSALS:
            raise CodeRefused(f"{url} answered {response.status_code}: {_reason(sent)}", "Begin again.")
        if not response.is_success or not isinstance(sent, dict):
            raise ProviderUnavailable(f"{url} answered {response.status_code}.", _HINT)
        return sent


def _reason(sent: object) -> str:
    """RFC 6749, section 5.2."""
    if not isinstance(sent, dict):
        return "no reason given"
    return f"{sent.get('error', '')!s:.100} {sent.get('error_description', '')!s:.300}".strip()
