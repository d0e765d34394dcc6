"""Answers by idempotency key, and how soon answers began."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("lease_until", _TIME, nullable=False),
        sa.Column("begun_at", _TIME, nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("body", sa.Text()),
        sa.PrimaryKeyConstraint("tenant", "key", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_begun_at", "idempotency_keys", ["begun_at"])
    op.create_table(
        "first_tokens",
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("bucket_start", _TIME, nullable=False),
        sa.Column("outcome", sa.String(8), nullable=False),
        sa.Column("within_ms", sa.BigInteger(), nullable=False),
        sa.Column("answers", sa.BigInteger(), nullable=False),
        sa.Column("microseconds", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "bucket_start", "outcome", "within_ms", name="pk_first_tokens"),
    )
