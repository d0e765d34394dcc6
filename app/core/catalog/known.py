"""What the catalog knows by name, for telling what belongs to nobody."""

from collections.abc import Iterable

from sqlalchemy import func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.core.catalog.batches import batches
from app.core.catalog.database import Database
from app.core.catalog.label import LabelKind
from app.core.catalog.labels import labels_by_document
from app.core.catalog.models import StoredChunk, StoredVersion
from app.core.catalog.states import VersionState


class Known(Database):
    def known_digests(self, document_ids: Iterable[str]) -> set[tuple[str, str, str]]:
        """The (tenant, document id, SHA-256) of every version of these documents, retired ones included."""
        return self._named_versions(StoredVersion.sha256, StoredVersion.document_id, document_ids)

    def known_versions(self, version_ids: Iterable[str]) -> set[tuple[str, str, str]]:
        """The (tenant, document id, version id) of those of the versions that have rows, retired ones included."""
        return self._named_versions(StoredVersion.id, StoredVersion.id, version_ids)

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

    def _named_versions(
        self, name: InstrumentedAttribute[str], column: InstrumentedAttribute[str], values: Iterable[str]
    ) -> set[tuple[str, str, str]]:
        """Tenant, document id and `name` of the versions of which `column` has one of the values."""
        found: set[tuple[str, str, str]] = set()
        query = select(StoredVersion.tenant, StoredVersion.document_id, name)
        with self._read() as session:
            for batch in batches(values):
                rows = session.execute(query.where(column.in_(batch)))
                found |= {(tenant, document_id, each) for tenant, document_id, each in rows}
        return found
