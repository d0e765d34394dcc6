"""Re-indexing: what the index of today's layout and embedding model lacks of the published documents."""

import logging
from collections.abc import Sequence
from threading import Event, Thread

from sqlalchemy.exc import SQLAlchemyError

from app.core.catalog import Catalog, ChunkRecord, Document, DocumentState, VersionState, WorkRefused
from app.core.errors import PrereadError
from app.core.settings import Settings
from retrieval.embedding import Embedder
from retrieval.index import OwnedIndex
from workers.claim import Claim, claimed
from workers.indexing import index_chunks, settle_labels

log = logging.getLogger(__name__)

_EMBED_CHUNKS = 4  # few, because questions wait for the embedding model meanwhile
_PAUSE_SECONDS = 10


class Reindexing:
    """Moves one document after the other from older collections into today's, in the background of web.

    A document answers from the old collection until it is in the new one. Nothing is remembered but what the new one
    holds, so that whatever ends it in the middle, the next start goes on. Each document is claimed, so that several
    webs share the work, and a deletion waits or wins.
    """

    def __init__(self, catalog: Catalog, index: OwnedIndex, embedder: Embedder, settings: Settings) -> None:
        self._catalog = catalog
        self._index = index
        self._embedder = embedder
        self._settings = settings
        self._stop = Event()
        self._thread = Thread(target=self._run, name="reindexing", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def left(self) -> int:
        """How many chunks are still to be indexed anew, about: what is being added counts too. 0: it has ended.

        Raises: IndexUnavailable.
        """
        if not self._thread.is_alive():
            return 0
        return sum(self._left_of(tenant) for tenant in self._tenants())

    def progress(self) -> str:
        """In words what is left, "" once it has ended. Raises: IndexUnavailable."""
        left = self.left()
        if not left:
            return ""
        before = sorted(self._index.older_dimensions())
        change = f", from vectors of {before[0]} numbers to vectors of {self._embedder.dimension}" if before else ""
        return f"{left:,} are still to be indexed anew{change}; all answer meanwhile"

    def once(self) -> bool:
        """Move all that nobody else is working on. True: nothing is left to do."""
        tenants = self._tenants()
        documents = [document for tenant in tenants for document in self._catalog.published_documents(tenant)]
        done = [self._move(document) for document in documents if not self._stop.is_set()]
        if len(done) < len(documents) or not all(done):
            return False
        for tenant in tenants:
            if older := self._index.count_older(tenant):
                log.info("the index: %d chunks that belong to no document are left out", older)
            self._index.forget_older(tenant)
        return True

    def _tenants(self) -> list[str]:
        return list(dict.fromkeys([self._settings.tenant, *self._catalog.tenants()]))

    def _left_of(self, tenant: str) -> int:
        older = self._index.count_older(tenant)
        missing = self._catalog.published_chunk_total(tenant) - (self._index.count(tenant) - older)
        return max(older, missing)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self.once():
                    return
            except (PrereadError, SQLAlchemyError) as error:
                log.warning("the index: re-indexing is tried again in %d s: %s", _PAUSE_SECONDS, error)
            self._stop.wait(_PAUSE_SECONDS)

    def _move(self, document: Document) -> bool:
        """False: another worker has the document, or there is no time left."""
        if self._lacking(document):
            with claimed(self._catalog, document.id, self._settings.lease_seconds) as claim:
                if claim is None or not self._fill(claim):
                    return False
        self._index.forget_older(document.tenant, document.id)
        return True

    def _fill(self, claim: Claim) -> bool:
        document = claim.document
        lacking = self._lacking(document)
        log.info("the index: re-indexing %d chunks of %s", len(lacking), document.id)
        labels = self._catalog.labels_of(document.id)
        try:
            for start in range(0, len(lacking), _EMBED_CHUNKS):
                claim.check()
                if self._stop.is_set():
                    return False
                index_chunks(lacking[start : start + _EMBED_CHUNKS], labels, self._embedder, self._index)
            settle_labels(document.tenant, document.id, labels, self._catalog, self._index)
            claim.check()
        except WorkRefused as refusal:
            log.info("the index: stopped re-indexing %s: %s", document.id, refusal)
            self._take_back(document)
        return True

    def _lacking(self, document: Document) -> Sequence[ChunkRecord]:
        if document.current_version_id is None or document.state is DocumentState.DELETING:
            return []
        chunks = self._catalog.chunks_of(document.current_version_id)
        missing = self._index.missing([chunk.id for chunk in chunks])
        return [chunk for chunk in chunks if chunk.id in missing]

    def _take_back(self, document: Document) -> None:
        """Remove what was written for a version that has meanwhile been deleted."""
        version = document.current_version_id and self._catalog.get_version(document.current_version_id)
        if document.current_version_id and (not version or version.state is VersionState.RETIRED):
            self._index.delete_version(document.tenant, document.id, document.current_version_id)
