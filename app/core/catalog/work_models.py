"""The tables of jobs and runs."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.catalog.models import Base, UtcTime


class StoredJob(Base):
    """Tries of a document's present stage; those of another `task` or `generation` than it is at count no more."""

    __tablename__ = "jobs"

    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    task: Mapped[str] = mapped_column(String(16))
    generation: Mapped[int] = mapped_column(BigInteger)
    attempts: Mapped[int]
    reason_code: Mapped[str | None] = mapped_column(String(64))
    reason: Mapped[str | None] = mapped_column(Text)
    first_at: Mapped[datetime] = mapped_column(UtcTime)
    last_at: Mapped[datetime | None] = mapped_column(UtcTime)
    due_at: Mapped[datetime | None] = mapped_column(UtcTime)
    purged_at: Mapped[datetime | None] = mapped_column(UtcTime)
    night_only: Mapped[bool]


class StoredDrop(Base):
    __tablename__ = "dropped_messages"

    reason: Mapped[str] = mapped_column(String(64), primary_key=True)
    messages: Mapped[int] = mapped_column(BigInteger)
    last_at: Mapped[datetime] = mapped_column(UtcTime)
    last_text: Mapped[str] = mapped_column(Text)


class StoredRun(Base):
    """The index is what keeps two runs from being open at once."""

    __tablename__ = "runs"
    __table_args__ = (
        Index(
            "uq_runs_open", "tenant", unique=True,
            sqlite_where=text("ended_at IS NULL"), postgresql_where=text("ended_at IS NULL"),
        ),
        Index("ix_runs_tenant_started_at", "tenant", "started_at"),
    )  # fmt: skip

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    kind: Mapped[str] = mapped_column(String(16))
    again: Mapped[bool]
    state: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text)
    started_at: Mapped[datetime] = mapped_column(UtcTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcTime)
    until: Mapped[datetime | None] = mapped_column(UtcTime)
    planned: Mapped[int]
    done: Mapped[int]
    skipped: Mapped[int]
    failed: Mapped[int]
    tokens: Mapped[int] = mapped_column(BigInteger)
    bytes: Mapped[int] = mapped_column(BigInteger)
    reading_microseconds: Mapped[int] = mapped_column(BigInteger)
    hits_at_start: Mapped[int] = mapped_column(BigInteger)
    lookups_at_start: Mapped[int] = mapped_column(BigInteger)
    hits_at_end: Mapped[int | None] = mapped_column(BigInteger)
    lookups_at_end: Mapped[int | None] = mapped_column(BigInteger)
    tending_until: Mapped[datetime | None] = mapped_column(UtcTime)
    tended: Mapped[str | None] = mapped_column(Text)


class StoredRunDocument(Base):
    """What is left to be done in a run."""

    __tablename__ = "run_documents"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    ordinal: Mapped[int]
    begun: Mapped[bool]
