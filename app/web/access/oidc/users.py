"""Users as a provider names them: made at their first sign-in, their role taken anew at each."""

from hashlib import sha256

from app.core.access import Role
from app.core.catalog import Catalog, User, UserExists
from app.core.settings import Settings
from app.web.access.errors import BadName
from app.web.access.names import user_name
from app.web.access.oidc.claims import role_from, tenant_from
from app.web.access.oidc.client import OidcIdentity
from app.web.access.oidc.errors import NoTenant, UserDisabled

_LONGEST_NAME = 90
_MARK_CHARACTERS = 8


class OidcUsers:
    """Known by issuer and subject alone: a name or an e-mail address may be somebody else's tomorrow. Blocking."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self._catalog = catalog
        self._settings = settings

    def user_of(self, identity: OidcIdentity) -> User:
        """Raises NoRole, NoTenant, UserDisabled, LastAdmin."""
        settings = self._settings
        role = role_from(
            identity.claims, settings.oidc_role_claim, settings.oidc_role_map, settings.oidc_role_otherwise
        )
        tenant = tenant_from(identity.claims, settings.oidc_tenant_claim, settings.tenant)
        subject = subject_of(identity)
        user = self._catalog.user_of_subject(subject)
        if user is None:
            return self._made(tenant, name_for(identity), role, subject)
        if user.disabled:
            raise UserDisabled(f"{user.name} is disabled.", "An admin can enable the user again.")
        if user.tenant != tenant:
            raise NoTenant(f"{user.name} belongs to the tenant {user.tenant}, not {tenant}.", "Ask an admin.")
        if user.role is role:
            return user
        return self._catalog.change_user(tenant, user.name, role=role)

    def _made(self, tenant: str, name: str, role: Role, subject: str) -> User:
        try:
            return self._catalog.add_user(tenant, name, role, subject=subject)
        except UserExists:
            # Somebody else has the name, and keeps it.
            return self._catalog.add_user(tenant, f"{name}-{_mark(subject)}", role, subject=subject)


def subject_of(identity: OidcIdentity) -> str:
    """Under which the catalog knows somebody. An issuer is an address, so it holds no blank."""
    return f"{identity.issuer} {identity.subject}"


def name_for(identity: OidcIdentity) -> str:
    """The name or the e-mail address, where it can be a user's name here; else one made of the subject."""
    for name in (identity.name, identity.email):
        try:
            return user_name(name[:_LONGEST_NAME])
        except BadName:
            continue
    return f"user-{_mark(subject_of(identity))}"


def _mark(subject: str) -> str:
    return sha256(subject.encode()).hexdigest()[:_MARK_CHARACTERS]
