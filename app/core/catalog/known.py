"""What the catalog knows by name, for telling what belongs to nobody."""

from collections.abc import Iterable

from sqlalchemy import func, select

from app.core.catalog.batches import batches
from app.core.catalog.database import Database
from app.core.catalog.models import StoredChunk, StoredVersion


class Known(Database):
    def known_digests(self, document_ids: Iterable[str]) -> set[tuple[str, str, str]]:
        """The (tenant, document id, SHA-256) of every version of these documents, retired ones included."""
        found: set[tuple[str, str, str]] = set()
        query = select(StoredVersion.tenant, StoredVersion.document_id, StoredVersion.sha256)
        with self._read() as session:
            for batch in batches(document_ids):
                rows = session.execute(query.where(StoredVersion.document_id.in_(batch)))
                found |= {(tenant, document_id, digest) for tenant, document_id, digest in rows}
        return found

    def known_versions(self, version_ids: Iterable[str]) -> set[str]:
        """Those of the versions that have rows."""
        found: set[str] = set()
        with self._read() as session:
            for batch in batches(version_ids):
                found.update(session.scalars(select(StoredVersion.id).where(StoredVersion.id.in_(batch))))
        return found

    def chunk_total(self, tenant: str) -> int:
        """Chunks of all versions, retired and pending ones included."""
        with self._read() as session:
            count = select(func.count()).select_from(StoredChunk).where(StoredChunk.tenant == tenant)
            return session.scalar(count) or 0
