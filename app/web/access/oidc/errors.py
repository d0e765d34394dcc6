"""Why signing in through a provider came to nothing. The browser is sent back with the code, docs/oidc.md lists them.

PrereadError
└── OidcError
    ├── OidcOff             404  no provider is set up
    ├── AttemptLost         401  not begun in this browser, or too long ago
    ├── ProviderDenied      401  the provider says no, or the user did
    ├── CodeRefused         401  the provider does not take the code that it gave
    ├── BadIdToken          401  what it sent is not what it must be
    ├── NoRole              403  no group that has a role here
    ├── NoTenant            403  no tenant, or another than at the first sign-in
    ├── UserDisabled        403  known, and locked out
    └── ProviderUnavailable 503  it does not answer, or not as one
"""

from app.core.codes import Code
from app.core.errors import PrereadError


class OidcError(PrereadError):
    code = Code.OIDC_FAILED
    status = 401


class OidcOff(OidcError):
    code = Code.OIDC_OFF
    status = 404


class AttemptLost(OidcError):
    code = Code.OIDC_STATE


class ProviderDenied(OidcError):
    code = Code.OIDC_DENIED


class CodeRefused(OidcError):
    code = Code.OIDC_REFUSED


class BadIdToken(OidcError):
    code = Code.OIDC_TOKEN


class NoRole(OidcError):
    code = Code.OIDC_NO_ROLE
    status = 403


class NoTenant(OidcError):
    code = Code.OIDC_TENANT
    status = 403


class UserDisabled(OidcError):
    code = Code.USER_DISABLED
    status = 403


class ProviderUnavailable(OidcError):
    code = Code.OIDC_UNAVAILABLE
    status = 503
