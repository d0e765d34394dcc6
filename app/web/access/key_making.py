"""Making and rotating API keys: what web and the command line have in common."""

from collections.abc import Iterable
from datetime import timedelta

from app.core.access import Permission, Role, permissions_of
from app.core.catalog import ApiKey, Catalog, NewKey
from app.core.key_token import digest_of, new_secret, token_of
from app.web.access.audit import Action, Audit
from app.web.access.errors import BadScopes


class KeyMaking:
    """Each returns the key and what its holder sends, which is told nobody again. Blocking."""

    def __init__(self, catalog: Catalog, audit: Audit) -> None:
        self._catalog = catalog
        self._audit = audit

    def make(self, key: NewKey) -> tuple[ApiKey, str]:
        secret = new_secret()
        made = self._catalog.add_key(key, digest_of(secret))
        self._audit.note(Action.KEY_CREATE, f"{made.id} {made.name}: {_powers(made)}")
        return made, token_of(made.id, secret)

    def rotate(self, tenant: str, key_id: str, overlap: timedelta) -> tuple[ApiKey, str]:
        """Raises KeyNotFound."""
        secret = new_secret()
        key = self._catalog.rotate_key(tenant, key_id, digest_of(secret), overlap)
        self._audit.note(Action.KEY_ROTATE, f"{key.id} {key.name}")
        return key, token_of(key.id, secret)

    def revoke(self, tenant: str, key_id: str) -> ApiKey:
        """Raises KeyNotFound."""
        key = self._catalog.revoke_key(tenant, key_id)
        self._audit.note(Action.KEY_REVOKE, f"{key.id} {key.name}")
        return key


def scopes_of(role: Role, wanted: Iterable[Permission]) -> frozenset[Permission]:
    """Raises BadScopes for one that the role does not have."""
    scopes = frozenset(wanted)
    beyond = sorted(scopes - role.permissions)
    if beyond:
        raise BadScopes(
            f"The role {role} does not have: {', '.join(beyond)}.",
            f"It has: {', '.join(sorted(role.permissions))}.",
        )
    return scopes


def _powers(key: ApiKey) -> str:
    return f"{key.role} ({', '.join(sorted(permissions_of(key.role, key.scopes)))})"
