"""Removing what a document version left in index, store, engine and files.

The catalog is changed first: readings are dropped or marked stale, and in the same transaction every key gets a
tombstone. Whatever does not answer afterwards is emptied later (`workers.tombstones`), and nobody is offered the key
until then. A worker may be writing at the same moment: it asks right before each write whether it still may, and once
more afterwards, and takes its write back if not.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.core.catalog import Catalog, Document, ReadingRecord, Tombstone, Version
from app.core.codes import Code
from app.core.errors import PrereadError, Unavailable
from generator.errors import EngineFailed, EngineUnavailable
from kvstore.errors import TierDown
from kvstore.staging import remove_staged
from kvstore.store import ChunkStore
from retrieval.index import ChunkIndex
from workers.files import DocumentFiles

log = logging.getLogger(__name__)


class Forgetful(Protocol):
    def purge(self, tenant: str, keys: list[str]) -> None:
        """Drop chunk KV from memory. Raises EngineUnavailable or EngineFailed."""


class NotPurged(Unavailable):
    """Chunk KV may be left in what does not answer; all else has been emptied of it."""

    code = Code.NOT_PURGED


@dataclass(frozen=True)
class Purge:
    """Every place that holds something of a document. All methods may be repeated."""

    catalog: Catalog
    index: ChunkIndex
    store: ChunkStore
    engine: Forgetful
    files: DocumentFiles
    staging_dir: Path

    def document(self, document: Document) -> None:
        """Remove everything of a document whose deletion has begun, but its rows. Raises: IndexUnavailable."""
        versions = self._versions(document)
        hashes = [chunk.ids_hash for version in versions for chunk in self.catalog.chunks_of(version)]
        buried = self.catalog.bury_document(document.tenant, document.id, hashes)
        buried += self._stale(document.tenant, self.catalog.readings_behind(document.tenant, versions))
        self._buried(document.tenant, buried)
        self.files.remove_document(document.tenant, document.id)
        self.index.delete_document(document.tenant, document.id)

    def retired_version(self, version: Version) -> None:
        """Remove a replaced version, rows included. Raises: IndexUnavailable."""
        hashes = [chunk.ids_hash for chunk in self.catalog.chunks_of(version.id)]
        buried = self.catalog.bury_orphans(version.tenant, version.document_id, hashes)
        buried += self._stale(version.tenant, self.catalog.readings_behind(version.tenant, [version.id]))
        self._buried(version.tenant, buried)
        self.files.remove_version(version.tenant, version.document_id, version.sha256)
        self.index.delete_version(version.tenant, version.document_id, version.id)
        self.catalog.drop_version(version.id)

    def foreign_passages(self, tenant: str, ids_hashes: Iterable[str]) -> None:
        """Remove the chunk KV among `ids_hashes` that one document's text has shaped and another document shares."""
        self._buried(tenant, self._stale(tenant, self.catalog.readings_behind_foreign_text(tenant, ids_hashes)))

    def keys(self, tenant: str, keys: Sequence[str]) -> None:
        """Remove chunk KV by key, wherever it lies. Raises: NotPurged."""
        problems = [*self._from_store(tenant, keys)[1], *self._from_engine(tenant, keys)]
        self._unstage(keys)
        if problems:
            raise NotPurged(" ".join(problem.message for problem in problems), "It goes on when all answer again.")

    def take_back(self, tenant: str, key: str) -> None:
        """Remove what was just put and nobody wants any more; what does not answer is left to the key's tombstone."""
        try:
            self.keys(tenant, [key])
        except NotPurged as problem:
            log.warning("%s was not taken back everywhere: %s", key, problem)

    def under(self, tenant: str, tombstones: Sequence[Tombstone]) -> list[PrereadError]:
        """Remove what lies under a tenant's tombstones; returns what did not answer.

        The engine is not asked again once it has answered, unless something was found after all: each time its prefix
        cache is emptied.
        """
        keys = {tombstone.key for tombstone in tombstones}
        found, problems = self._from_store(tenant, keys)
        remembered = keys if found else {each.key for each in tombstones if each.forgotten_at is None}
        deaf = self._from_engine(tenant, remembered)
        self.catalog.engine_asked(tombstones, forgot=not deaf)
        return [*problems, *deaf]

    def _stale(self, tenant: str, readings: Sequence[ReadingRecord]) -> list[str]:
        """Bury chunk KV that must not be used any more, and have it read anew for the documents that share it."""
        keys = [reading.key for reading in readings]
        if keys:
            self.catalog.mark_stale(tenant, keys)
            sharing = self.catalog.sharing_documents(tenant, [reading.ids_hash for reading in readings])
            self.catalog.request_preread(tenant, set().union(*sharing.values()))
        return keys

    def _buried(self, tenant: str, keys: Sequence[str]) -> None:
        if not keys:
            return
        self._unstage(keys)
        for problem in self.under(tenant, self.catalog.standing_tombstones(tenant, keys)):
            log.warning("a deletion is finished later: %s", problem)

    def _unstage(self, keys: Iterable[str]) -> None:
        for key in keys:
            remove_staged(self.staging_dir, key)

    def _from_store(self, tenant: str, keys: Iterable[str]) -> tuple[int, list[PrereadError]]:
        """How many of the keys were found, and what did not answer."""
        try:
            return self.store.delete(tenant, keys), []
        except TierDown as error:
            return 0, [error]

    def _from_engine(self, tenant: str, keys: Iterable[str]) -> list[PrereadError]:
        asked = sorted(keys)
        try:
            if asked:
                self.engine.purge(tenant, asked)
        except (EngineUnavailable, EngineFailed) as error:
            return [error]
        return []

    def _versions(self, document: Document) -> set[str]:
        known = {document.current_version_id, document.pending_version_id}
        known |= {version.id for version in self.catalog.retired_versions(document.id)}
        return {version for version in known if version is not None}
