"""API keys, users, their sessions, and the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("former_digest", sa.String(64)),
        sa.Column("former_until", _TIME),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME),
        sa.Column("revoked_at", _TIME),
        sa.Column("last_used_at", _TIME),
        sa.Column("requests_per_minute", sa.Integer()),
        sa.Column("concurrent_requests", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
    )
    op.create_index("ix_api_keys_tenant_created_at", "api_keys", ["tenant", "created_at"])
    op.create_table(
        "users",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("password_hash", sa.Text()),
        sa.Column("subject", sa.Text()),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
    )
    op.create_index("uq_users_name", "users", ["name"], unique=True)
    op.create_index("uq_users_subject", "users", ["subject"], unique=True)
    op.create_index("ix_users_tenant_created_at", "users", ["tenant", "created_at"])
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("seen_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_sessions"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_sessions_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"])
    op.create_table(
        "audit_log",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("actor_id", sa.String(100), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("request_id", sa.String(128), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
    )
    op.create_index("ix_audit_log_tenant_at_id", "audit_log", ["tenant", "at", "id"])
    op.create_index("ix_audit_log_at", "audit_log", ["at"])
