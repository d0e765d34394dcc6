"""Preread as a client of an OpenID provider: authorization code with PKCE, state and nonce."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from app.core.settings import Settings
from app.web.access.oidc.attempt import Attempt
from app.web.access.oidc.claims import claim_at
from app.web.access.oidc.errors import BadIdToken
from app.web.access.oidc.id_token import IdTokens
from app.web.access.oidc.provider import Provider

CALLBACK = "/auth/oidc/callback"


@dataclass(frozen=True)
class OidcIdentity:
    """Issuer and subject are who it is; name and e-mail address are what it is called, and may change."""

    issuer: str
    subject: str
    name: str
    email: str
    claims: Mapping[str, Any]


class OidcClient:
    """Blocking: it asks the provider."""

    def __init__(self, settings: Settings, provider: Provider) -> None:
        self._client_id = settings.oidc_client_id
        self._client_secret = settings.oidc_client_secret.get_secret_value()
        self._scopes = settings.oidc_scopes
        self._needed = [claim for claim in (settings.oidc_role_claim, settings.oidc_tenant_claim) if claim]
        self._redirect_uri = settings.public_url + CALLBACK
        self._provider = provider
        self._tokens = IdTokens(provider, self._client_id)

    def start(self, attempt: Attempt) -> str:
        """Where the browser is to go. Raises ProviderUnavailable."""
        address = self._provider.metadata().authorization_endpoint
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._redirect_uri,
            "scope": self._scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"

    def finish(self, code: str, attempt: Attempt) -> OidcIdentity:
        """Whom the code stands for. Raises BadIdToken, CodeRefused, ProviderUnavailable."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": attempt.verifier,
        }
        tokens = self._provider.exchange(form, self._client_id, self._client_secret)
        claims = self._tokens.claims(tokens.id_token, attempt.nonce)
        if any(claim_at(claims, name) is None for name in self._needed):
            # Some providers keep id tokens short and tell the rest when they are asked.
            claims = self._with_more(claims, tokens.access_token)
        name = claims.get("preferred_username") or claims.get("name") or ""
        return OidcIdentity(claims["iss"], claims["sub"], str(name), str(claims.get("email") or ""), claims)

    def _with_more(self, claims: dict[str, Any], access_token: str) -> dict[str, Any]:
        more = self._provider.user_info(access_token)
        # OpenID Connect Core 1.0, section 5.3.2: otherwise it is about somebody else.
        if more and more.get("sub") != claims["sub"]:
            raise BadIdToken("The provider told of another user than the one who signs in.", "Ask an admin.")
        return more | claims
