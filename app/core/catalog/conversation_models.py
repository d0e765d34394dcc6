"""The tables of conversations, of answers that were given, and of what users thought of them."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.catalog.models import Base, UtcTime


class StoredConversation(Base):
    """`owner` is the id of the key or user that began it."""

    __tablename__ = "conversations"
    __table_args__ = (
        Index("ix_conversations_tenant_owner_updated_at_id", "tenant", "owner", "updated_at", "id"),
        Index("ix_conversations_updated_at", "updated_at"),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    owner: Mapped[str] = mapped_column(String(128))
    title: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)


class StoredTurn(Base):
    """`chunk_ids` and `citations` are JSON; they hold ids and places, never a document's text."""

    __tablename__ = "turns"
    __table_args__ = (
        Index("ix_turns_conversation_id_created_at_request_id", "conversation_id", "created_at", "request_id"),
    )

    request_id: Mapped[str] = mapped_column(String(80), primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    question: Mapped[str] = mapped_column(Text)
    answer: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16))
    chunk_ids: Mapped[str] = mapped_column(Text)
    citations: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class StoredAnswer(Base):
    """That an answer was given. `question` is kept only where the operator wants feedback to have texts."""

    __tablename__ = "answers"
    __table_args__ = (Index("ix_answers_created_at", "created_at"),)

    request_id: Mapped[str] = mapped_column(String(80), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    owner: Mapped[str] = mapped_column(String(128))
    conversation_id: Mapped[str | None] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(String(16))
    policy: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    ttft_ms: Mapped[float | None]
    question: Mapped[str | None] = mapped_column(Text)


class StoredFeedback(Base):
    __tablename__ = "feedback"
    __table_args__ = (
        Index("ix_feedback_tenant_rated_at_request_id", "tenant", "rated_at", "request_id"),
        Index("ix_feedback_rated_at", "rated_at"),
    )

    request_id: Mapped[str] = mapped_column(String(80), primary_key=True)
    owner: Mapped[str] = mapped_column(String(128), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    rating: Mapped[str] = mapped_column(String(8))
    reason: Mapped[str | None] = mapped_column(String(32))
    comment: Mapped[str | None] = mapped_column(Text)
    question: Mapped[str | None] = mapped_column(Text)
    rated_at: Mapped[datetime] = mapped_column(UtcTime)
