"""Why a request is turned away.

PrereadError
├── TurnedAway              401  with WWW-Authenticate
│   ├── Unauthenticated          no credentials, or none that are good
│   ├── KeyExpired               the key was good
│   ├── KeyRevoked               the key was good
│   └── SignInFailed             no such name, or not its password
├── Forbidden               403  whoever it is may not do this
├── CsrfRefused             403  a browser may have been made to send it
├── TooMany                 429  with Retry-After
│   ├── RateLimited              more requests a minute than the key may send
│   ├── TooManyAtOnce            more requests at once than the key may have open
│   └── TooManyAttempts          more tries to sign in
└── BadInput
    ├── BadName                  no name that a key or user may have
    ├── BadScopes                the role does not have them
    └── WeakPassword             too short, or too long
"""

from collections.abc import Mapping

from app.core.codes import Code
from app.core.errors import BadInput, PrereadError


class TurnedAway(Exception):
    """What the four have in common."""

    status = 401

    @property
    def headers(self) -> Mapping[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class Unauthenticated(TurnedAway, PrereadError):
    code = Code.UNAUTHENTICATED


class KeyExpired(TurnedAway, PrereadError):
    code = Code.KEY_EXPIRED


class KeyRevoked(TurnedAway, PrereadError):
    code = Code.KEY_REVOKED


class SignInFailed(TurnedAway, PrereadError):
    code = Code.SIGN_IN_FAILED


class Forbidden(PrereadError):
    code = Code.FORBIDDEN
    status = 403


class CsrfRefused(PrereadError):
    code = Code.CSRF
    status = 403


class TooMany(Exception):
    """What the three have in common; `retry_after_seconds`: when it is worth trying again."""

    status = 429
    retry_after_seconds: int | None

    def __init__(self, message: str, hint: str, retry_after_seconds: int) -> None:
        super().__init__(message, hint)
        self.retry_after_seconds = retry_after_seconds


class RateLimited(TooMany, PrereadError):
    code = Code.RATE_LIMITED


class TooManyAtOnce(TooMany, PrereadError):
    code = Code.TOO_MANY_AT_ONCE


class TooManyAttempts(TooMany, PrereadError):
    code = Code.TOO_MANY_ATTEMPTS


class BadName(BadInput):
    code = Code.BAD_ACCESS_NAME


class BadScopes(BadInput):
    code = Code.BAD_SCOPES


class WeakPassword(BadInput):
    code = Code.WEAK_PASSWORD
