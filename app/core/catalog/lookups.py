"""What became of every chunk lookup: five-minute roll-ups, and hits and misses per document."""

from collections.abc import Mapping
from datetime import datetime
from itertools import groupby

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.core.catalog.buckets import bucket_start
from app.core.catalog.database import Database
from app.core.catalog.first_tokens import FirstToken, add_first_token
from app.core.catalog.models import StoredDocument, StoredDocumentLookups, StoredRollup
from app.core.catalog.records import LookupCount, LookupTotals, Reuse
from app.core.catalog.savings import add_saving
from app.core.catalog.upsert import upsert


class Lookups(Database):
    def record_lookups(
        self,
        tenant: str,
        hits: Mapping[str, tuple[int, int]],
        misses: Mapping[str, tuple[int, int]],
        per_document: Mapping[str, tuple[int, int]],
        now: datetime,
        reuse: Reuse | None = None,
        first: FirstToken | None = None,
    ) -> None:
        """Count one request's lookups, what it reused, and how soon its answer began, all of it or nothing.

        Args:
            hits: (chunks, tokens) by the tier that had them.
            misses: (chunks, tokens) by reason.
            per_document: (hits, misses) in chunks by document id; documents deleted meanwhile are left out.
            now: aware; says which five-minute bucket.
        """
        bucket = bucket_start(now)
        rollups = [
            {
                "tenant": tenant,
                "bucket_start": bucket,
                "outcome": outcome,
                "detail": detail,
                "chunks": chunks,
                "tokens": tokens,
            }
            for outcome, counts in (("hit", hits), ("miss", misses))
            for detail, (chunks, tokens) in sorted(counts.items())
            if chunks or tokens
        ]
        with self._write() as session:
            _add_rollups(session, rollups)
            _add_document_lookups(session, tenant, per_document)
            if reuse is not None:
                add_saving(session, tenant, bucket, reuse)
            if first is not None:
                add_first_token(session, tenant, bucket, first)

    def lookup_totals(self, tenant: str, since: datetime | None = None) -> LookupTotals:
        """Sums over all time, or from the bucket that holds `since` on. Deleted documents' lookups still count."""
        query = (
            select(
                StoredRollup.outcome, StoredRollup.detail, func.sum(StoredRollup.chunks), func.sum(StoredRollup.tokens)
            )
            .where(StoredRollup.tenant == tenant)
            .group_by(StoredRollup.outcome, StoredRollup.detail)
            .order_by(StoredRollup.outcome, StoredRollup.detail)
        )
        if since is not None:
            query = query.where(StoredRollup.bucket_start >= bucket_start(since))
        with self._read() as session:
            rows = session.execute(query).all()
        counts = {
            outcome: tuple(LookupCount(detail, int(chunks), int(tokens)) for _, detail, chunks, tokens in group)
            for outcome, group in groupby(rows, key=lambda row: str(row[0]))
        }
        return LookupTotals(hits=counts.get("hit", ()), misses=counts.get("miss", ()))


def _add_rollups(session: Session, rollups: list[dict[str, object]]) -> None:
    if not rollups:
        return
    insert = upsert(session, StoredRollup)
    session.execute(
        insert.on_conflict_do_update(
            index_elements=["tenant", "bucket_start", "outcome", "detail"],
            set_={
                "chunks": StoredRollup.chunks + insert.excluded.chunks,
                "tokens": StoredRollup.tokens + insert.excluded.tokens,
            },
        ),
        rollups,
    )


def _add_document_lookups(session: Session, tenant: str, per_document: Mapping[str, tuple[int, int]]) -> None:
    known = session.scalars(
        select(StoredDocument.id)
        .where(StoredDocument.tenant == tenant, StoredDocument.id.in_(per_document))
        .order_by(StoredDocument.id)
        .with_for_update(read=True, key_share=True)  # a deletion waits, or came first
    ).all()
    if not known:
        return
    insert = upsert(session, StoredDocumentLookups)
    session.execute(
        insert.on_conflict_do_update(
            index_elements=["tenant", "document_id"],
            set_={
                "hits": StoredDocumentLookups.hits + insert.excluded.hits,
                "misses": StoredDocumentLookups.misses + insert.excluded.misses,
            },
        ),
        [
            {"tenant": tenant, "document_id": document_id, "hits": hits, "misses": misses}
            for document_id in known
            for hits, misses in [per_document[document_id]]
        ],
    )
