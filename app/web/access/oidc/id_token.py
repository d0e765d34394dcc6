"""What an id token says, once it is known to be the provider's, for us, for this sign-in, and for now."""

import time
from collections.abc import Callable
from typing import Any

from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry
from joserfc.jwt import JWTClaimsRegistry

from app.web.access.oidc.errors import BadIdToken
from app.web.access.oidc.provider import Provider

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Signatures with the provider's own key alone: none of the shared-secret kind, and not `none`."""

_LEEWAY_SECONDS = 60
_LONGEST_SUBJECT = 255
_REGISTRY = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
_HINT = "Compare the client's settings here with those at the provider; both clocks must be right."


class IdTokens:
    def __init__(self, provider: Provider, client_id: str, clock: Callable[[], float] = time.time) -> None:
        self._provider = provider
        self._client_id = client_id
        self._clock = clock

    def claims(self, token: str, nonce: str) -> dict[str, Any]:
        """OpenID Connect Core 1.0, section 3.1.3.7. Raises BadIdToken, ProviderUnavailable."""
        try:
            claims = self._signed_claims(token)
            self._required(nonce).validate(claims)
        except (JoseError, ValueError) as error:
            raise BadIdToken(f"The id token is refused: {error or error.__class__.__name__}", _HINT) from error
        if claims.get("azp", self._client_id) != self._client_id:
            raise BadIdToken("The id token was made for another client.", _HINT)
        if len(claims["sub"]) > _LONGEST_SUBJECT:
            raise BadIdToken("The id token's subject is too long.", _HINT)
        return claims

    def _signed_claims(self, token: str) -> dict[str, Any]:
        try:
            return _verified(token, self._provider.keys())
        except (InvalidKeyIdError, BadSignatureError):
            # The provider may have new keys.
            return _verified(token, self._provider.keys(anew=True))

    def _required(self, nonce: str) -> JWTClaimsRegistry:
        return JWTClaimsRegistry(
            now=lambda: int(self._clock()),
            leeway=_LEEWAY_SECONDS,
            iss={"essential": True, "value": self._provider.metadata().issuer},
            aud={"essential": True, "value": self._client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )


def _verified(token: str, keys: KeySet) -> dict[str, Any]:
    return jwt.decode(token, keys, registry=_REGISTRY).claims
