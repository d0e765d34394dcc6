"""The tables of API keys, users, their sessions, and the audit log."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.catalog.models import Base, UtcTime


class StoredKey(Base):
    """`digest`: SHA-256 of the secret. `former_digest` is the secret before the last rotation, good until
    `former_until`. `scopes`: with blanks between; none: all that the role may."""

    __tablename__ = "api_keys"
    __table_args__ = (Index("ix_api_keys_tenant_created_at", "tenant", "created_at"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    name: Mapped[str] = mapped_column(String(100))
    role: Mapped[str] = mapped_column(String(16))
    scopes: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(String(64))
    former_digest: Mapped[str | None] = mapped_column(String(64))
    former_until: Mapped[datetime | None] = mapped_column(UtcTime)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcTime)
    requests_per_minute: Mapped[int | None]
    concurrent_requests: Mapped[int | None]


class StoredUser(Base):
    """`password_hash`: argon2id, None for who signs in elsewhere alone. `subject`: issuer and subject of OIDC."""

    __tablename__ = "users"
    __table_args__ = (
        Index("uq_users_name", "name", unique=True),
        Index("uq_users_subject", "subject", unique=True),
        Index("ix_users_tenant_created_at", "tenant", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    name: Mapped[str] = mapped_column(String(100))
    role: Mapped[str] = mapped_column(String(16))
    password_hash: Mapped[str | None] = mapped_column(Text)
    subject: Mapped[str | None] = mapped_column(Text)
    disabled: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class StoredSession(Base):
    """`digest`: SHA-256 of the cookie's value."""

    __tablename__ = "sessions"
    __table_args__ = (Index("ix_sessions_user_id", "user_id"), Index("ix_sessions_expires_at", "expires_at"))

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    seen_at: Mapped[datetime] = mapped_column(UtcTime)
    expires_at: Mapped[datetime] = mapped_column(UtcTime)


class StoredAuditEntry(Base):
    """`actor_id` is a key's or a user's, or says from where the command line was used."""

    __tablename__ = "audit_log"
    __table_args__ = (Index("ix_audit_log_tenant_at_id", "tenant", "at", "id"), Index("ix_audit_log_at", "at"))

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcTime)
    tenant: Mapped[str] = mapped_column(String(63))
    actor_id: Mapped[str] = mapped_column(String(100))
    actor: Mapped[str] = mapped_column(Text)
    action: Mapped[str] = mapped_column(String(64))
    target: Mapped[str] = mapped_column(Text)
    request_id: Mapped[str] = mapped_column(String(128))
    address: Mapped[str] = mapped_column(String(64))
