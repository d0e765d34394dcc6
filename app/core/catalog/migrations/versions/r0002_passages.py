"""Which version's text a chunk was read behind."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("readings", sa.Column("passage_version_id", sa.String(64)))
    op.create_index("ix_readings_tenant_passage_version_id", "readings", ["tenant", "passage_version_id"])
