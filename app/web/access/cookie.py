"""The session's cookie, and what a page must send beside it to change anything."""

import hmac
import secrets
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response

from app.core.settings import Settings
from app.web.access.errors import CsrfRefused

COOKIE = "preread_session"
CSRF_HEADER = "X-CSRF-Token"

_TOKEN_BYTES = 32
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def new_session_token() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)


def session_digest(token: str) -> str:
    """What the database knows of it: SHA-256 in hex."""
    return sha256(token.encode()).hexdigest()


def csrf_token(token: str) -> str:
    """Follows from the cookie's value, which no script can read, and does not tell it."""
    return hmac.new(token.encode(), b"csrf", sha256).hexdigest()


def set_session_cookie(response: Response, token: str, settings: Settings) -> None:
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(settings.session_hours * 3600),
        path="/",
        secure=settings.public_url.startswith("https://"),
        httponly=True,
        samesite="lax",
    )


def clear_session_cookie(response: Response, settings: Settings) -> None:
    response.delete_cookie(
        COOKIE, path="/", secure=settings.public_url.startswith("https://"), httponly=True, samesite="lax"
    )


def require_csrf_token(connection: HTTPConnection, token: str, settings: Settings) -> None:
    """For a request that is signed in by cookie alone. Raises CsrfRefused."""
    if connection.scope["method"] in _SAFE_METHODS:
        return
    require_own_origin(connection, settings)
    sent = connection.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(), csrf_token(token).encode()):
        raise CsrfRefused(
            f"Signed in by cookie, this takes the header {CSRF_HEADER}.",
            "Send the csrf_token of GET /auth/session, or use an API key.",
        )


def require_own_origin(connection: HTTPConnection, settings: Settings) -> None:
    """Raises CsrfRefused where a browser says that another site's page sends this."""
    origin = connection.headers.get("Origin")
    if origin is None:
        return
    own = {connection.headers.get("Host", ""), urlsplit(settings.public_url).netloc} - {""}
    if urlsplit(origin).netloc.lower() not in {host.lower() for host in own}:
        raise CsrfRefused(
            "Another site's page sent this.",
            "Behind a proxy, set PREREAD_PUBLIC_URL to the address that users see.",
        )
