"""What an identity's claims mean here: a role, a tenant. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from app.core.access import Role
from app.core.settings import TENANT_PATTERN
from app.web.access.oidc.errors import NoRole, NoTenant

_RANKS = tuple(Role)


def claim_at(claims: Mapping[str, Any], name: str) -> Any:
    """The claim of this name, or else where the name leads with dots: `realm_access.roles`; None: it is not there."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


def role_from(claims: Mapping[str, Any], claim: str, roles: Mapping[str, Role], default: Role | None) -> Role:
    """The highest role of the groups that the claim names, or `default`. Raises NoRole."""
    value = claim_at(claims, claim)
    groups = value if isinstance(value, list) else [value]
    found = {roles[group] for group in groups if isinstance(group, str) and group in roles}
    if found:
        return max(found, key=_RANKS.index)
    if default is None:
        raise NoRole(f"None of the groups in “{claim}” has a role here.", "PREREAD_OIDC_ROLES names those that do.")
    return default


def tenant_from(claims: Mapping[str, Any], claim: str, otherwise: str) -> str:
    """The tenant that the claim names; `otherwise` where no claim is to. Raises NoTenant."""
    if not claim:
        return otherwise
    value = claim_at(claims, claim)
    if not isinstance(value, str) or not re.fullmatch(TENANT_PATTERN, value):
        raise NoTenant(f"The claim “{claim}” names no tenant.", "A tenant is lower-case letters, digits, - and _.")
    return value
