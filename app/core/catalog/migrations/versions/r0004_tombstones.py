"""What deletions wanted gone."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "tombstones",
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("document_id", sa.String(64), nullable=False),
        sa.Column("deleted_at", _TIME, nullable=False),
        sa.Column("due_at", _TIME, nullable=False),
        sa.Column("forgotten_at", _TIME),
        sa.Column("revived_at", _TIME),
        sa.Column("purged_at", _TIME),
        sa.PrimaryKeyConstraint("tenant", "key", "document_id", name="pk_tombstones"),
    )
    op.create_index("ix_tombstones_tenant_document_id", "tombstones", ["tenant", "document_id"])
    op.create_index("ix_tombstones_purged_at_due_at", "tombstones", ["purged_at", "due_at"])
