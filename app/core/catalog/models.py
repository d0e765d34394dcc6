"""The catalog's tables."""

from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, validates

from app.core.catalog.text import folded


class UtcTime(TypeDecorator[datetime]):
    """Aware datetimes in and out, kept as UTC; databases without time zones store the UTC wall clock."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        }
    )


def _unique_where(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, unique=True, sqlite_where=text(where), postgresql_where=text(where))


def _where(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


class StoredDocument(Base):
    """`sought` is what searches look in: name and title, folded.

    `labels_changed` counts changes of its labels, and `labels_indexed` says how far the index has been told.
    """

    __tablename__ = "documents"
    __table_args__ = (
        _unique_where("uq_documents_live_name", "tenant", "name", where="state <> 'deleting'"),
        Index("ix_documents_tenant_created_at_id", "tenant", "created_at", "id"),
        Index("ix_documents_tenant_state_created_at_id", "tenant", "state", "created_at", "id"),
        Index("ix_documents_state", "state"),
        _where("ix_documents_labels_pending", "id", where="labels_indexed < labels_changed"),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(63))
    name: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16))
    failure_code: Mapped[str | None] = mapped_column(String(64))
    failure_message: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)
    claim_owner: Mapped[str | None] = mapped_column(Text)
    claim_until: Mapped[datetime | None] = mapped_column(UtcTime)
    generation: Mapped[int] = mapped_column(BigInteger)
    sought: Mapped[str] = mapped_column(Text, server_default=text("''"))
    labels_changed: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    labels_indexed: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))

    @validates("name", "title")
    def _seek(self, key: str, value: str) -> str:
        other = (self.title if key == "name" else self.name) or ""
        self.sought = folded(f"{value}\n{other}" if key == "name" else f"{other}\n{value}")
        return value


class StoredVersion(Base):
    """The partial indexes are the truth about races: bytes once a tenant, one pending and one current a document."""

    __tablename__ = "versions"
    __table_args__ = (
        _unique_where("uq_versions_live_bytes", "tenant", "sha256", where="state <> 'retired'"),
        _unique_where("uq_versions_pending", "document_id", where="state = 'pending'"),
        _unique_where("uq_versions_current", "document_id", where="state = 'current'"),
        Index("uq_versions_document_id_sha256", "document_id", "sha256", unique=True),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    tenant: Mapped[str] = mapped_column(String(63))
    sha256: Mapped[str] = mapped_column(String(64))
    media_type: Mapped[str] = mapped_column(Text)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    title: Mapped[str | None] = mapped_column(Text)
    pages: Mapped[int | None]
    state: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class StoredChunk(Base):
    """`token_ids`: little-endian uint32, so that its length is four bytes a token."""

    __tablename__ = "chunks"
    __table_args__ = (
        Index("uq_chunks_version_id_ordinal", "version_id", "ordinal", unique=True),
        Index("ix_chunks_document_id", "document_id"),
        Index("ix_chunks_tenant_ids_hash", "tenant", "ids_hash"),
    )

    id: Mapped[str] = mapped_column(String(80), primary_key=True)
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id", ondelete="CASCADE"))
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    tenant: Mapped[str] = mapped_column(String(63))
    ordinal: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    start: Mapped[int]
    end: Mapped[int]
    page: Mapped[int | None]
    heading: Mapped[str | None] = mapped_column(Text)
    token_ids: Mapped[bytes] = mapped_column(LargeBinary)
    n_tokens: Mapped[int]
    ids_hash: Mapped[str] = mapped_column(String(64))


class StoredReading(Base):
    __tablename__ = "readings"
    __table_args__ = (
        Index("ix_readings_tenant_ids_hash", "tenant", "ids_hash"),
        Index("ix_readings_tenant_passage_version_id", "tenant", "passage_version_id"),
    )

    tenant: Mapped[str] = mapped_column(String(63), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    ids_hash: Mapped[str] = mapped_column(String(64))
    model_fingerprint: Mapped[str] = mapped_column(String(64))
    preamble_hash: Mapped[str] = mapped_column(String(64))
    conditioning_hash: Mapped[str] = mapped_column(String(64))
    profile_id: Mapped[str] = mapped_column(String(64))
    reading: Mapped[str] = mapped_column(String(16))
    state: Mapped[str] = mapped_column(String(16))
    n_tokens: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)
    passage_version_id: Mapped[str | None] = mapped_column(String(64))
    gone: Mapped[str | None] = mapped_column(String(16))
    error_code: Mapped[str | None] = mapped_column(String(64))
    bytes_in_16_bits: Mapped[int | None] = mapped_column(BigInteger)


class StoredTombstone(Base):
    __tablename__ = "tombstones"
    __table_args__ = (
        Index("ix_tombstones_tenant_document_id", "tenant", "document_id"),
        Index("ix_tombstones_purged_at_due_at", "purged_at", "due_at"),
    )

    tenant: Mapped[str] = mapped_column(String(63), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    document_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    deleted_at: Mapped[datetime] = mapped_column(UtcTime)
    due_at: Mapped[datetime] = mapped_column(UtcTime)
    forgotten_at: Mapped[datetime | None] = mapped_column(UtcTime)
    revived_at: Mapped[datetime | None] = mapped_column(UtcTime)
    purged_at: Mapped[datetime | None] = mapped_column(UtcTime)


class StoredRollup(Base):
    __tablename__ = "rollups"

    tenant: Mapped[str] = mapped_column(String(63), primary_key=True)
    bucket_start: Mapped[datetime] = mapped_column(UtcTime, primary_key=True)
    outcome: Mapped[str] = mapped_column(String(8), primary_key=True)
    detail: Mapped[str] = mapped_column(String(64), primary_key=True)
    chunks: Mapped[int] = mapped_column(BigInteger)
    tokens: Mapped[int] = mapped_column(BigInteger)


class StoredSaving(Base):
    """Whole microseconds: a sum of floats depends on the order of its rows, and a counter must never go back."""

    __tablename__ = "savings"

    tenant: Mapped[str] = mapped_column(String(63), primary_key=True)
    bucket_start: Mapped[datetime] = mapped_column(UtcTime, primary_key=True)
    reused_tokens: Mapped[int] = mapped_column(BigInteger)
    fresh_tokens: Mapped[int] = mapped_column(BigInteger)
    timed_tokens: Mapped[int] = mapped_column(BigInteger)
    timed_microseconds: Mapped[int] = mapped_column(BigInteger)
    saved_microseconds: Mapped[int] = mapped_column(BigInteger)
    load_microseconds: Mapped[int] = mapped_column(BigInteger)
    loaded_bytes: Mapped[int] = mapped_column(BigInteger)
    loaded_bytes_in_16_bits: Mapped[int] = mapped_column(BigInteger)


class StoredDocumentLookups(Base):
    __tablename__ = "document_lookups"

    tenant: Mapped[str] = mapped_column(String(63), primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    hits: Mapped[int] = mapped_column(BigInteger)
    misses: Mapped[int] = mapped_column(BigInteger)
