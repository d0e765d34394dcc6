"""What became of a reading's blob, why it could not be made, its size in 16 bits; what answers saved."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("readings", sa.Column("gone", sa.String(16)))
    op.add_column("readings", sa.Column("error_code", sa.String(64)))
    op.add_column("readings", sa.Column("bytes_in_16_bits", sa.BigInteger))
    op.create_table(
        "savings",
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("bucket_start", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reused_tokens", sa.BigInteger, nullable=False),
        sa.Column("fresh_tokens", sa.BigInteger, nullable=False),
        sa.Column("timed_tokens", sa.BigInteger, nullable=False),
        sa.Column("timed_microseconds", sa.BigInteger, nullable=False),
        sa.Column("saved_microseconds", sa.BigInteger, nullable=False),
        sa.Column("load_microseconds", sa.BigInteger, nullable=False),
        sa.Column("loaded_bytes", sa.BigInteger, nullable=False),
        sa.Column("loaded_bytes_in_16_bits", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "bucket_start", name="pk_savings"),
    )
