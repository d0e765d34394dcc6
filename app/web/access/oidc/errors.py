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

from app.core.errors import PrereadError


class OidcError(PrereadError):
    code = "oidc_failed"
    status = 401


class OidcOff(OidcError):
    code = "oidc_off"
    status = 404


class AttemptLost(OidcError):
    code = "oidc_state"


class ProviderDenied(OidcError):
    code = "oidc_denied"


class CodeRefused(OidcError):
    code = "oidc_refused"


class BadIdToken(OidcError):
    code = "oidc_token"


class NoRole(OidcError):
    code = "oidc_no_role"
    status = 403


class NoTenant(OidcError):
    code = "oidc_tenant"
    status = 403


class UserDisabled(OidcError):
    code = "user_disabled"
    status = 403


class ProviderUnavailable(OidcError):
    code = "oidc_unavailable"
    status = 503
