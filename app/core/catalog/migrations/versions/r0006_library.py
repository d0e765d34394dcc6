"""Labels, what searches look in, and folders that are kept in step."""

import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_BATCH = 1000


def upgrade() -> None:
    op.add_column("documents", sa.Column("sought", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.add_column(
        "documents", sa.Column("labels_changed", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    )
    op.add_column(
        "documents", sa.Column("labels_indexed", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    )
    _fill_sought(op.get_bind())
    op.drop_index("ix_documents_tenant_created_at", "documents")
    op.create_index("ix_documents_tenant_created_at_id", "documents", ["tenant", "created_at", "id"])
    op.create_index("ix_documents_tenant_state_created_at_id", "documents", ["tenant", "state", "created_at", "id"])
    pending = sa.text("labels_indexed < labels_changed")
    op.create_index("ix_documents_labels_pending", "documents", ["id"], sqlite_where=pending, postgresql_where=pending)
    op.create_table(
        "document_labels",
        sa.Column("document_id", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("label", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("document_id", "kind", "label", name="pk_document_labels"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name="fk_document_labels_document_id", ondelete="CASCADE"
        ),
    )
    op.create_index(
        "ix_document_labels_listed", "document_labels", ["tenant", "kind", "label", "created_at", "document_id"]
    )
    op.create_table(
        "synced_files",
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("source", sa.String(64), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("document_id", sa.String(64), nullable=False),
        sa.Column("owned", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "source", "path", name="pk_synced_files"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name="fk_synced_files_document_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_synced_files_document_id", "synced_files", ["document_id"])
    op.create_table(
        "syncs",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("source", sa.String(64), nullable=False),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("remove_many", sa.Boolean(), nullable=False),
        sa.Column("asked_at", _TIME, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease_until", _TIME),
        sa.Column("ended_at", _TIME),
        sa.Column("report", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_syncs"),
    )
    op.create_index("ix_syncs_tenant_source_asked_at", "syncs", ["tenant", "source", "asked_at"])


def _fill_sought(connection: sa.Connection) -> None:
    documents = sa.table("documents", sa.column("id"), sa.column("name"), sa.column("title"), sa.column("sought"))
    fill = sa.update(documents).where(documents.c.id == sa.bindparam("found")).values(sought=sa.bindparam("folded"))
    last = ""
    while True:
        columns = sa.select(documents.c.id, documents.c.name, documents.c.title)
        query = columns.where(documents.c.id > last).order_by(documents.c.id).limit(_BATCH)
        rows = connection.execute(query).all()
        if not rows:
            return
        connection.execute(fill, [{"found": id_, "folded": _folded(f"{name}\n{title}")} for id_, name, title in rows])
        last = rows[-1][0]


def _folded(value: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", value).casefold())
