"""The tables of labels and of folders that are kept in step."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.catalog.models import Base, UtcTime


class StoredLabel(Base):
    """`created_at` is the document's: the index lists a label's documents newest first without looking at them."""

    __tablename__ = "document_labels"
    __table_args__ = (Index("ix_document_labels_listed", "tenant", "kind", "label", "created_at", "document_id"),)

    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    label: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class StoredSyncedFile(Base):
    """A file that a sync has taken. `owned`: the document is there because of this sync alone.

    `mtime_ns` is 0 where the file had changed so lately that its time could not tell whether it would change again.
    """

    __tablename__ = "synced_files"
    __table_args__ = (Index("ix_synced_files_document_id", "document_id"),)

    tenant: Mapped[str] = mapped_column(String(63), primary_key=True)
    source: Mapped[str] = mapped_column(String(64), primary_key=True)
    path: Mapped[str] = mapped_column(Text, primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    owned: Mapped[bool]


class StoredSync(Base):
    """A sync of a folder that was asked for; `report` tells how far it is until it has ended, then what it did."""

    __tablename__ = "syncs"
    __table_args__ = (Index("ix_syncs_tenant_source_asked_at", "tenant", "source", "asked_at"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    source: Mapped[str] = mapped_column(String(64))
    dry_run: Mapped[bool]
    remove_many: Mapped[bool]
    asked_at: Mapped[datetime] = mapped_column(UtcTime)
    owner: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[datetime | None] = mapped_column(UtcTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcTime)
    report: Mapped[str | None] = mapped_column(Text)
