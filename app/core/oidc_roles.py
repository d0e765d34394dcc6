"""Which groups of a sign-in provider have which role here, as a setting names them."""

from collections.abc import Mapping

from app.core.access import Role


def oidc_roles_from(value: str) -> Mapping[str, Role]:
    """Of `GROUP=ROLE;GROUP=ROLE`; a group's name may hold `=`. Raises ValueError."""
    roles: dict[str, Role] = {}
    for entry in filter(None, (part.strip() for part in value.split(";"))):
        group, _, role = entry.rpartition("=")
        if not group.strip() or role.strip() not in set(Role):
            raise ValueError(f"“{entry}” is not GROUP=ROLE, with a role of {', '.join(Role)}")
        roles[group.strip()] = Role(role.strip())
    return roles
