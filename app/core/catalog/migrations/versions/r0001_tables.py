"""The first tables: documents, versions, chunks, readings, lookups."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("failure_code", sa.String(64)),
        sa.Column("failure_message", sa.Text),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.Column("claim_owner", sa.Text),
        sa.Column("claim_until", _TIME),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
    )
    _unique_where("uq_documents_live_name", "documents", ["tenant", "name"], "state <> 'deleting'")
    op.create_index("ix_documents_tenant_created_at", "documents", ["tenant", "created_at"])
    op.create_index("ix_documents_state", "documents", ["state"])

    op.create_table(
        "versions",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("document_id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("title", sa.Text),
        sa.Column("pages", sa.Integer),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_versions"),
        _belongs_to_document("versions"),
    )
    _unique_where("uq_versions_live_bytes", "versions", ["tenant", "sha256"], "state <> 'retired'")
    _unique_where("uq_versions_pending", "versions", ["document_id"], "state = 'pending'")
    _unique_where("uq_versions_current", "versions", ["document_id"], "state = 'current'")
    op.create_index("uq_versions_document_id_sha256", "versions", ["document_id", "sha256"], unique=True)

    op.create_table(
        "chunks",
        sa.Column("id", sa.String(80), nullable=False),
        sa.Column("version_id", sa.String(64), nullable=False),
        sa.Column("document_id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
        sa.Column("page", sa.Integer),
        sa.Column("heading", sa.Text),
        sa.Column("token_ids", sa.LargeBinary, nullable=False),
        sa.Column("n_tokens", sa.Integer, nullable=False),
        sa.Column("ids_hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_chunks"),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name="fk_chunks_version_id", ondelete="CASCADE"),
        _belongs_to_document("chunks"),
    )
    op.create_index("uq_chunks_version_id_ordinal", "chunks", ["version_id", "ordinal"], unique=True)
    op.create_index("ix_chunks_document_id", "chunks", ["document_id"])
    op.create_index("ix_chunks_tenant_ids_hash", "chunks", ["tenant", "ids_hash"])

    op.create_table(
        "readings",
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("ids_hash", sa.String(64), nullable=False),
        sa.Column("model_fingerprint", sa.String(64), nullable=False),
        sa.Column("preamble_hash", sa.String(64), nullable=False),
        sa.Column("conditioning_hash", sa.String(64), nullable=False),
        sa.Column("profile_id", sa.String(64), nullable=False),
        sa.Column("reading", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("n_tokens", sa.Integer, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key", name="pk_readings"),
    )
    op.create_index("ix_readings_tenant_ids_hash", "readings", ["tenant", "ids_hash"])

    op.create_table(
        "rollups",
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("bucket_start", _TIME, nullable=False),
        sa.Column("outcome", sa.String(8), nullable=False),
        sa.Column("detail", sa.String(64), nullable=False),
        sa.Column("chunks", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "bucket_start", "outcome", "detail", name="pk_rollups"),
    )

    op.create_table(
        "document_lookups",
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("document_id", sa.String(64), nullable=False),
        sa.Column("hits", sa.BigInteger, nullable=False),
        sa.Column("misses", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", name="pk_document_lookups"),
        _belongs_to_document("document_lookups"),
    )


def downgrade() -> None:
    for table in ("document_lookups", "rollups", "readings", "chunks", "versions", "documents"):
        op.drop_table(table)


def _unique_where(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, unique=True, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _belongs_to_document(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["document_id"], ["documents.id"], name=f"fk_{table}_document_id", ondelete="CASCADE"
    )
