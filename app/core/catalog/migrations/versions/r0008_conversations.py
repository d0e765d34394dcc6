"""Conversations, answers that were given, and feedback."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("owner", sa.String(128), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index(
        "ix_conversations_tenant_owner_updated_at_id", "conversations", ["tenant", "owner", "updated_at", "id"]
    )
    op.create_index("ix_conversations_updated_at", "conversations", ["updated_at"])
    op.create_table(
        "turns",
        sa.Column("request_id", sa.String(80), nullable=False),
        sa.Column("conversation_id", sa.String(64), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("chunk_ids", sa.Text(), nullable=False),
        sa.Column("citations", sa.Text(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("request_id", name="pk_turns"),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_turns_conversation_id", ondelete="CASCADE"
        ),
    )
    op.create_index(
        "ix_turns_conversation_id_created_at_request_id", "turns", ["conversation_id", "created_at", "request_id"]
    )
    op.create_table(
        "answers",
        sa.Column("request_id", sa.String(80), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("owner", sa.String(128), nullable=False),
        sa.Column("conversation_id", sa.String(64)),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("policy", sa.String(80), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("ttft_ms", sa.Double()),
        sa.Column("question", sa.Text()),
        sa.PrimaryKeyConstraint("request_id", name="pk_answers"),
    )
    op.create_index("ix_answers_created_at", "answers", ["created_at"])
    op.create_table(
        "feedback",
        sa.Column("request_id", sa.String(80), nullable=False),
        sa.Column("owner", sa.String(128), nullable=False),
        sa.Column("tenant", sa.String(63), nullable=False),
        sa.Column("rating", sa.String(8), nullable=False),
        sa.Column("reason", sa.String(32)),
        sa.Column("comment", sa.Text()),
        sa.Column("question", sa.Text()),
        sa.Column("rated_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("request_id", "owner", name="pk_feedback"),
    )
    op.create_index("ix_feedback_tenant_rated_at_request_id", "feedback", ["tenant", "rated_at", "request_id"])
    op.create_index("ix_feedback_rated_at", "feedback", ["rated_at"])
