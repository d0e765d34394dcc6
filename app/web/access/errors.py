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

from app.core.errors import BadInput, PrereadError


class TurnedAway(PrereadError):
    code = "unauthenticated"
    status = 401

    @property
    def headers(self) -> Mapping[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class Unauthenticated(TurnedAway):
    code = "unauthenticated"


class KeyExpired(TurnedAway):
    code = "key_expired"


class KeyRevoked(TurnedAway):
    code = "key_revoked"


class SignInFailed(TurnedAway):
    code = "sign_in_failed"


class Forbidden(PrereadError):
    code = "forbidden"
    status = 403


class CsrfRefused(PrereadError):
    code = "csrf"
    status = 403


class TooMany(PrereadError):
    """`retry_after_seconds`: when it is worth trying again."""

    code = "rate_limited"
    status = 429

    def __init__(self, message: str, hint: str, retry_after_seconds: int) -> None:
        super().__init__(message, hint)
        self.retry_after_seconds = retry_after_seconds

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Retry-After": str(self.retry_after_seconds)}


class RateLimited(TooMany):
    code = "rate_limited"


class TooManyAtOnce(TooMany):
    code = "too_many_at_once"


class TooManyAttempts(TooMany):
    code = "too_many_attempts"


class BadName(BadInput):
    code = "bad_access_name"


class BadScopes(BadInput):
    code = "bad_scopes"


class WeakPassword(BadInput):
    code = "weak_password"
