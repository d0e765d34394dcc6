"""Tries of documents' stages, messages that were dropped, and runs of pre-reading."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("document_id", sa.String(64), nullable=False),
        sa.Column("task", sa.String(16), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("reason_code", sa.String(64)),
        sa.Column("reason", sa.Text()),
        sa.Column("first_at", _TIME, nullable=False),
        sa.Column("last_at", _TIME),
        sa.Column("due_at", _TIME),
        sa.Column("purged_at", _TIME),
        sa.Column("night_only", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", name="pk_jobs"),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="fk_jobs_document_id", ondelete="CASCADE"),
    )
    op.create_table(
        "dropped_messages",
        sa.Column("reason", sa.String(64), nullable=False),
        sa.Column("messages", sa.BigInteger(), nullable=False),
        sa.Column("last_at", _TIME, nullable=False),
        sa.Column("last_text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("reason", name="pk_dropped_messages"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("ended_at", _TIME),
        sa.Column("until", _TIME),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("reading_microseconds", sa.BigInteger(), nullable=False),
        sa.Column("hits_at_start", sa.BigInteger(), nullable=False),
        sa.Column("lookups_at_start", sa.BigInteger(), nullable=False),
        sa.Column("hits_at_end", sa.BigInteger()),
        sa.Column("lookups_at_end", sa.BigInteger()),
        sa.Column("tending_until", _TIME),
        sa.Column("tended", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    open_run = sa.text("ended_at IS NULL")
    op.create_index(
        "uq_runs_open", "runs", ["tenant"], unique=True, sqlite_where=open_run, postgresql_where=open_run
    )
    op.create_index("ix_runs_tenant_started_at", "runs", ["tenant", "started_at"])
    op.create_table(
        "run_documents",
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("document_id", sa.String(64), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "document_id", name="pk_run_documents"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_documents_run_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name="fk_run_documents_document_id", ondelete="CASCADE"
        ),
    )
