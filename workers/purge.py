"""Removing what a document version left in index, store, engine and files.

A worker may be writing at the same moment. It writes first and asks the catalog afterwards whether the document still
exists, and takes its write back if not; here the catalog is changed first and the stores are emptied afterwards. Either
order of events leaves nothing.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.catalog import Catalog, Document, ReadingRecord, Version
from generator.engine import EngineClient
from generator.errors import EngineFailed, EngineUnavailable
from kvstore.staging import staged_path
from kvstore.store import ChunkStore
from retrieval.index import ChunkIndex
from workers.files import DocumentFiles

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Purge:
    """Every place that holds something of a document. All methods may be repeated."""

    catalog: Catalog
    index: ChunkIndex
    store: ChunkStore
    engine: EngineClient
    files: DocumentFiles
    staging_dir: Path

    def document(self, document: Document) -> None:
        """Remove everything of a document whose deletion has begun, but its rows."""
        versions = self._versions(document)
        hashes = [chunk.ids_hash for version in versions for chunk in self.catalog.chunks_of(version)]
        self.index.delete_document(document.tenant, document.id)
        self.orphans(document.tenant, hashes, excluding=document.id)
        self._stale(document.tenant, self.catalog.readings_behind(document.tenant, versions))
        self.files.remove_document(document.tenant, document.id)

    def retired_version(self, version: Version) -> None:
        """Remove a replaced version, rows included."""
        hashes = [chunk.ids_hash for chunk in self.catalog.chunks_of(version.id)]
        self.index.delete_version(version.tenant, version.document_id, version.id)
        self.orphans(version.tenant, hashes)
        self._stale(version.tenant, self.catalog.readings_behind(version.tenant, [version.id]))
        self.files.remove_version(version.tenant, version.document_id, version.sha256)
        self.catalog.drop_version(version.id)

    def orphans(self, tenant: str, ids_hashes: Iterable[str], excluding: str | None = None) -> None:
        """Remove the chunk KV among `ids_hashes` that no live document shares."""
        keys = [reading.key for reading in self.catalog.orphaned_keys(tenant, ids_hashes, excluding)]
        if keys:
            self.store.delete(tenant, keys)
            self.catalog.drop_readings(tenant, keys)
            # Once more, for a worker that stored a blob before its reading was dropped.
            self.keys(tenant, keys)

    def foreign_passages(self, tenant: str, ids_hashes: Iterable[str]) -> None:
        """Remove the chunk KV among `ids_hashes` that one document's text has shaped and another document shares."""
        self._stale(tenant, self.catalog.readings_behind_foreign_text(tenant, ids_hashes))

    def _stale(self, tenant: str, readings: Sequence[ReadingRecord]) -> None:
        """Remove chunk KV that must not be used any more, and have it read anew for the documents that share it."""
        keys = [reading.key for reading in readings]
        if not keys:
            return
        self.store.delete(tenant, keys)
        self.catalog.mark_stale(tenant, keys)
        # Once more, for a worker that stored a blob before its reading was stale.
        self.keys(tenant, keys)
        sharing = self.catalog.sharing_documents(tenant, [reading.ids_hash for reading in readings])
        self.catalog.request_preread(tenant, set().union(*sharing.values()))

    def keys(self, tenant: str, keys: list[str]) -> None:
        """Remove chunk KV by key, wherever it lies."""
        self.store.delete(tenant, keys)
        for key in keys:
            staged_path(self.staging_dir, key).unlink(missing_ok=True)
        try:
            self.engine.purge(tenant, keys)
        except (EngineUnavailable, EngineFailed) as error:
            # An engine that is down has no memory to clear; nobody asks for these keys again.
            log.warning("the engine's memory was not purged: %s", error)

    def _versions(self, document: Document) -> set[str]:
        known = {document.current_version_id, document.pending_version_id}
        known |= {version.id for version in self.catalog.retired_versions(document.id)}
        return {version for version in known if version is not None}
