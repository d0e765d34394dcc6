"""What the catalog knows by name, for telling what belongs to nobody."""

from collections.abc import Iterable

from sqlalchemy import func, select

from app.core.catalog.batches import batches
from app.core.catalog.database import Database
from app.core.catalog.label import LabelKind
from app.core.catalog.labels import labels_by_document
from app.core.catalog.models import StoredChunk, StoredVersion
from app.core.catalog.states import VersionState


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

    def known_versions(self, version_ids: Iterable[str]) -> set[tuple[str, str, str]]:
        """The (tenant, document id, version id) of those of the versions that have rows, retired ones included."""
        found: set[tuple[str, str, str]] = set()
        query = select(StoredVersion.tenant, StoredVersion.document_id, StoredVersion.id)
        with self._read() as session:
            for batch in batches(version_ids):
                rows = session.execute(query.where(StoredVersion.id.in_(batch)))
                found |= {(tenant, document_id, version_id) for tenant, document_id, version_id in rows}
        return found

    def known_labels(self, document_ids: Iterable[str]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """The collections and the tags of each of the documents, sorted; none of one that is gone."""
        with self._read() as session:
            found = labels_by_document(session, list(document_ids))
        return {each: (kinds[LabelKind.COLLECTION], kinds[LabelKind.TAG]) for each, kinds in found.items()}

    def published_chunk_total(self, tenant: str) -> int:
        """Chunks of all versions that answer questions."""
        count = (
            select(func.count())
            .select_from(StoredChunk)
            .join(StoredVersion, StoredVersion.id == StoredChunk.version_id)
            .where(StoredChunk.tenant == tenant, StoredVersion.state == VersionState.CURRENT)
        )
        with self._read() as session:
            return session.scalar(count) or 0
