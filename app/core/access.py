"""Who sent a request, and what they may do."""

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


@dataclass(frozen=True)
class Principal:
    """`id` names the key or the user, in the audit log and as the owner of conversations."""

    id: str
    name: str
    tenant: str
    role: Role
    permissions: AbstractSet[Permission]
