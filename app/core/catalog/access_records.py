"""What the catalog hands out about keys, users, sessions and the audit log. Times are UTC-aware."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime

from app.core.access import Permission, Role


@dataclass(frozen=True)
class ApiKey:
    """`digests`: SHA-256 of every secret that is good now. Limits: 0: none, None: as the settings say."""

    id: str
    tenant: str
    name: str
    role: Role
    scopes: tuple[Permission, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    requests_per_minute: int | None
    concurrent_requests: int | None
    digests: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True)
class NewKey:
    """A key to be made; `scopes` are within the role's permissions."""

    tenant: str
    name: str
    role: Role
    scopes: AbstractSet[Permission] = frozenset()
    expires_at: datetime | None = None
    requests_per_minute: int | None = None
    concurrent_requests: int | None = None


@dataclass(frozen=True)
class User:
    """`password_hash`: None for who has no password here. `subject`: None for who has not signed in by OIDC."""

    id: str
    tenant: str
    name: str
    role: Role
    disabled: bool
    created_at: datetime
    subject: str | None
    password_hash: str | None = field(repr=False)


@dataclass(frozen=True)
class Session:
    """Somebody who is signed in. It ends at `expires_at`, or sooner when it is not used."""

    user: User
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class AuditEntry:
    """Who did what to what, when and from where."""

    at: datetime
    tenant: str
    actor_id: str
    actor: str
    action: str
    target: str
    request_id: str
    address: str


@dataclass(frozen=True)
class AuditPage:
    items: tuple[AuditEntry, ...]
    total: int
