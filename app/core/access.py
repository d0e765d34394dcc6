"""Who sent a request, and what they may do."""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum


class Permission(StrEnum):
    """What a route asks for. Every route asks for one, or says that it is public."""

    ASK = "ask"
    READ_DOCUMENTS = "documents:read"
    WRITE_DOCUMENTS = "documents:write"
    METRICS = "metrics"
    ADMIN = "admin"


class Role(StrEnum):
    READER = "reader"
    EDITOR = "editor"
    ADMIN = "admin"

    @property
    def permissions(self) -> AbstractSet[Permission]:
        return _PERMISSIONS[self]


_READER = frozenset({Permission.ASK, Permission.READ_DOCUMENTS})
_PERMISSIONS = {
    Role.READER: _READER,
    Role.EDITOR: _READER | {Permission.WRITE_DOCUMENTS},
    Role.ADMIN: frozenset(Permission),
}


def permissions_of(role: Role, scopes: Collection[Permission]) -> AbstractSet[Permission]:
    """What a key with these scopes may do; no scopes: all that its role may."""
    return role.permissions & frozenset(scopes) if scopes else role.permissions


@dataclass(frozen=True)
class Principal:
    """`id` names the key or the user, in the audit log and as the owner of conversations.

    Limits are a key's own; 0: none, None: what the settings say for every key.
    """

    id: str
    name: str
    tenant: str
    role: Role
    permissions: AbstractSet[Permission]
    requests_per_minute: int | None = 0
    concurrent_requests: int | None = 0

    def runs(self, operators_tenant: str) -> bool:
        """Whether they may see what concerns the whole machine: an admin of the operator's tenant."""
        return self.tenant == operators_tenant and Permission.ADMIN in self.permissions
