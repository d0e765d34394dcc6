"""The tables of what is remembered of requests: answers by idempotency key, and how soon answers began."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.catalog.models import Base, UtcTime


class StoredOnce(Base):
    """A request that is to be done once. `status` and `body` are None until it is."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (Index("ix_idempotency_keys_begun_at", "begun_at"),)

    tenant: Mapped[str] = mapped_column(String(63), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    owner: Mapped[str] = mapped_column(String(64))
    lease_until: Mapped[datetime] = mapped_column(UtcTime)
    begun_at: Mapped[datetime] = mapped_column(UtcTime)
    status: Mapped[int | None]
    body: Mapped[str | None] = mapped_column(Text)


class StoredFirstToken(Base):
    """Answers by how soon they began. `within_ms`: the upper bound of the histogram's bucket; 0: above all bounds."""

    __tablename__ = "first_tokens"

    tenant: Mapped[str] = mapped_column(String(63), primary_key=True)
    bucket_start: Mapped[datetime] = mapped_column(UtcTime, primary_key=True)
    outcome: Mapped[str] = mapped_column(String(8), primary_key=True)
    within_ms: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    answers: Mapped[int] = mapped_column(BigInteger)
    microseconds: Mapped[int] = mapped_column(BigInteger)
