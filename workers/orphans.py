"""Vectors, files and blobs that belong to nothing in the catalog: found a few at a time, and removed.

Of vectors it is also seen to that they bear their document's labels.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice

from app.core.errors import PrereadError
from kvstore.errors import TierDown
from kvstore.tiers.base import Entry, Tier
from kvstore.verification import MOST_REMOVED_BLINDLY, YOUNG_SECONDS, Judge, Verdict, remove
from retrieval.index import HeldVersion
from workers.context import WorkerContext
from workers.files import StoredFile
from workers.indexing import settle_labels
from workers.missing import is_known

log = logging.getLogger(__name__)

_FILES = 1000
_BLOBS = 200
_VECTORS = 1000
_VECTOR_PAGES = 5


@dataclass(frozen=True)
class Removed:
    """How many."""

    files: int = 0
    vectors: int = 0
    blobs: int = 0


@dataclass
class Orphans:
    """Where the search of this process has got to; it begins anew at the end of each kind.

    Vectors may be another tenant's, as the index may be shared; the catalog has those tenants too.
    """

    _vectors: str | None = None
    _files: Iterator[StoredFile] = field(default_factory=lambda: iter(()))
    _blobs: dict[str, Iterator[Entry]] = field(default_factory=dict)

    def remove(self, context: WorkerContext, now: datetime) -> Removed:
        """Look at the next batch of each kind. What does not answer is looked at another time."""
        kinds: dict[str, Callable[[], int]] = {
            "files": lambda: self._remove_files(context, now.timestamp()),
            "vectors": lambda: self._remove_vectors(context),
            "blobs": lambda: self._remove_blobs(context, now.timestamp()),
        }
        removed = {}
        for kind, look in kinds.items():
            try:
                removed[kind] = look()
            except (PrereadError, OSError) as error:
                log.warning("orphaned %s are looked for later: %s", kind, error)
            else:
                if removed[kind]:
                    log.warning("%d orphaned %s were removed", removed[kind], kind)
        return Removed(**removed)

    def _remove_vectors(self, context: WorkerContext) -> int:
        """Raises: IndexUnavailable, IndexRefused.

        The index is asked first and the catalog then: whoever puts vectors in has noted their version before, and an id
        is never used again. So what the catalog does not know is gone for good.
        """
        removed = 0
        for _ in range(_VECTOR_PAGES):
            page = context.index.holdings(self._vectors, _VECTORS)
            removed += self._judge(page.versions, context)
            self._vectors = page.after
            if page.after is None:
                break
        return removed

    def _judge(self, held: Sequence[HeldVersion], context: WorkerContext) -> int:
        known = context.catalog.known_versions({each.version_id for each in held})
        orphans = {each.place for each in held} - known
        if len(orphans) > MOST_REMOVED_BLINDLY and not known:
            log.error("the catalog knows nothing of %d versions in the index; is it the right one?", len(orphans))
            return 0
        living = [each for each in held if each.place in known]
        labels = context.catalog.known_labels({each.document_id for each in living})
        outdated = {each.place[:2] for each in living if (each.collections, each.tags) != labels[each.document_id]}
        for tenant, document_id in sorted(outdated):
            settle_labels(tenant, document_id, None, context.catalog, context.index)
        return sum(_remove_version(*place, context) for place in sorted(orphans))

    def _remove_files(self, context: WorkerContext, now: float) -> int:
        batch = list(islice(self._files, _FILES))
        if not batch:
            self._files = context.files.stored()
            batch = list(islice(self._files, _FILES))
        known = context.catalog.known_digests({file.document_id for file in batch})
        orphans = [
            file
            for file in batch
            if (file.tenant, file.document_id, file.digest) not in known and file.written_at < now - YOUNG_SECONDS
        ]
        for file in orphans:
            context.files.remove_version(file.tenant, file.document_id, file.digest)
            context.files.remove_empty(file.tenant, file.document_id)
        return len(orphans)

    def _remove_blobs(self, context: WorkerContext, now: float) -> int:
        judge = Judge(context.codecs, partial(is_known, context.catalog), lambda: now)
        removed = 0
        for tier in context.store.tiers:
            try:
                if tier.writable:
                    removed += self._remove_from(tier, judge, context, now)
            except TierDown as error:
                self._blobs.pop(tier.name, None)
                log.warning("orphaned blobs are looked for later: %s", error)
        return removed

    def _remove_from(self, tier: Tier, judge: Judge, context: WorkerContext, now: float) -> int:
        entries = self._blobs.get(tier.name)
        batch = list(islice(entries, _BLOBS)) if entries is not None else []
        if not batch:
            self._blobs[tier.name] = tier.entries()
            batch = list(islice(self._blobs[tier.name], _BLOBS))
        known: set[tuple[str, str]] = set()
        for tenant in {entry.tenant for entry in batch}:
            keys = [entry.key for entry in batch if entry.tenant == tenant]
            known |= {(tenant, reading.key) for reading in context.catalog.readings_under(tenant, keys)}
        unsure = [each for each in batch if (each.tenant, each.key) not in known and _old(each, now)]
        judged = [judgement for entry in unsure if (judgement := judge(tier, entry))]
        orphans = [judgement for judgement in judged if judgement.verdict is Verdict.UNKNOWN]
        if len(orphans) > MOST_REMOVED_BLINDLY and len(orphans) == len(batch):
            log.error("the catalog knows nothing of a batch in the %s tier; is it the right one?", tier.name)
            return 0
        return remove(tier, judge, orphans)


def _remove_version(tenant: str, document_id: str, version_id: str, context: WorkerContext) -> int:
    before = context.index.count(tenant, document_id)
    context.index.delete_version(tenant, document_id, version_id)
    return before - context.index.count(tenant, document_id)


def _old(entry: Entry, now: float) -> bool:
    return entry.written_at is not None and entry.written_at < now - YOUNG_SECONDS
