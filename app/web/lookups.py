"""What became of the chunks of one answer: told to the user, counted in the catalog, and missing ones pre-read."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from app.core.catalog import Catalog, FirstToken, Gone, ReadingRecord, Reuse
from app.web.reuse import reuse_of
from app.web.services import Services
from generator.identity import chunk_identity
from generator.prompt import chunk_readings
from generator.report import ChunkOutcome, FusionReport
from kvstore.decoded import DecodedChunks
from kvstore.errors import TierDown
from kvstore.identity import BlobIdentity
from kvstore.key import Reading, ids_hash
from kvstore.lookup import explain_miss, longest_life
from kvstore.reasons import MissReason, StoreMiss
from retrieval.search import Passage
from workers.pieces import wanted_reading
from workers.precompute import read_missed

log = logging.getLogger(__name__)

_GONE = {MissReason(gone): gone for gone in Gone}


@dataclass(frozen=True)
class Lookup:
    """One passage's look-up: `tier` of a hit, or `reason` of a miss.

    `better` is a reading that would have served better than the one that was found; None where there is none. `record`
    is the catalog's, of the reading that was found or else of the one that would do; None where it has none.
    """

    passage: Passage
    tier: str | None
    reason: MissReason | None
    better: BlobIdentity | None = None
    record: ReadingRecord | None = None


class Lookups:
    """Explains and counts the look-ups of answers. Counting and waking go on if the client leaves."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._background: set[asyncio.Task[None]] = set()

    def missing(
        self,
        tenant: str,
        fingerprint: str,
        passages: Sequence[Passage],
        conditioned: bool,
        withheld: Collection[str] = (),
    ) -> list[Passage]:
        """Passages that no shared tier has KV for that serves their place and is not `withheld`, by key. Blocking."""
        served = self._stored(
            tenant,
            {
                passage.chunk_id: [
                    identity
                    for identity in self._candidates(fingerprint, passage, conditioned)
                    if identity.key not in withheld
                ]
                for passage in passages
            },
        )
        return [passage for passage in passages if passage.chunk_id not in served]

    def opened(self, tenant: str, fingerprint: str, passages: Sequence[Passage]) -> set[str]:
        """Chunk ids of passages whose opening reading is in a shared tier; none when no tier answers. Blocking."""
        try:
            opening = {p.chunk_id: [self._identity(fingerprint, p, Reading.OPENING)] for p in passages}
            return self._stored(tenant, opening)
        except TierDown as error:
            log.warning("the order of passages stays: %s", error)
            return set()

    def have_read(self, tenant: str, passages: Iterable[Passage]) -> None:
        """Have the documents of these passages pre-read where something of them is missing. Blocking."""
        documents = {passage.document_id for passage in passages}
        if documents:
            read_missed(tenant, documents, catalog=self._services.catalog, waker=self._services.waker)

    async def account(
        self,
        tenant: str,
        report: FusionReport,
        fingerprint: str,
        passages: Sequence[Passage],
        conditioned: bool,
        prompt_tokens: int,
        first_token_seconds: float | None = None,
    ) -> list[Lookup]:
        """Turn a fused request's report into look-ups, count them, and have what is missing pre-read.

        `first_token_seconds`: from the request's arrival on; counted too, where it is known.
        """
        counting = self._services.counting
        lookups = await counting.run(self._explain, tenant, report, fingerprint, passages, conditioned)
        first = _first_token(lookups, first_token_seconds)
        self.in_background(counting.run(self._record, tenant, lookups, report, prompt_tokens, first))
        return lookups

    async def drain(self) -> None:
        """Wait for counting and waking to end."""
        while self._background:
            await asyncio.wait(self._background)

    def in_background(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Run `work` to its end, whatever becomes of the answer."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def _identity(self, fingerprint: str, passage: Passage, reading: Reading) -> BlobIdentity:
        return chunk_identity(fingerprint, self._services.preamble.ids, passage.token_ids, reading)

    def _candidates(self, fingerprint: str, passage: Passage, conditioned: bool) -> list[BlobIdentity]:
        """What the engine looks for, best first."""
        readings = chunk_readings(passage.n, conditioned)
        return [self._identity(fingerprint, passage, reading) for reading in readings]

    def _stored(self, tenant: str, candidates: Mapping[str, Sequence[BlobIdentity]]) -> set[str]:
        """The chunk ids that have any of their candidates in a shared tier. Raises TierDown when none answers."""
        keys = {identity.key for identities in candidates.values() for identity in identities}
        stored = self._services.store.contains(tenant, keys)
        return {
            chunk_id
            for chunk_id, identities in candidates.items()
            if any(identity.key in stored for identity in identities)
        }

    def _explain(
        self, tenant: str, report: FusionReport, fingerprint: str, passages: Sequence[Passage], conditioned: bool
    ) -> list[Lookup]:
        if report.not_fused is not None:
            return disabled(passages)
        records = self._services.catalog.readings(tenant, {ids_hash(passage.token_ids) for passage in passages})
        explain = partial(explain_miss, now=datetime.now(UTC), life_seconds=longest_life(self._services.settings))
        return [
            _lookup(passage, outcome, self._candidates(fingerprint, passage, conditioned), records, explain)
            for passage, outcome in zip(passages, report.chunks, strict=True)
        ]

    def _record(
        self, tenant: str, lookups: list[Lookup], report: FusionReport, prompt_tokens: int, first: FirstToken | None
    ) -> None:
        try:
            reuse = reuse_of(report, prompt_tokens, _loaded(lookups))
            count(self._services.catalog, tenant, lookups, datetime.now(UTC), reuse, first)
            if gone := _newly_gone(lookups):
                self._services.catalog.note_gone(gone)
            for lookup in lookups:
                if lookup.better is not None:
                    self._services.catalog.wish_reading(wanted_reading(tenant, lookup.better))
            unread = (
                lookup.passage
                for lookup in lookups
                if lookup.better is not None or lookup.reason not in (None, MissReason.DISABLED)
            )
            self.have_read(tenant, unread)
        except Exception:
            log.exception("the look-ups of an answer were not counted")


def disabled(passages: Iterable[Passage]) -> list[Lookup]:
    """Look-ups where chunk KV was not to be used."""
    return [Lookup(passage, None, MissReason.DISABLED) for passage in passages]


def count(
    catalog: Catalog,
    tenant: str,
    lookups: Sequence[Lookup],
    now: datetime,
    reuse: Reuse | None = None,
    first: FirstToken | None = None,
) -> None:
    """Add one answer's look-ups, what it reused, and how soon it began, to the catalog's counters."""
    hits: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    misses: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    per_document: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for lookup in lookups:
        detail, counter = (lookup.tier, hits) if lookup.tier is not None else (str(lookup.reason), misses)
        chunks, tokens = counter[detail]
        counter[detail] = (chunks + 1, tokens + len(lookup.passage.token_ids))
        hit, miss = per_document[lookup.passage.document_id]
        per_document[lookup.passage.document_id] = (hit + (lookup.tier is not None), miss + (lookup.tier is None))
    catalog.record_lookups(tenant, hits, misses, per_document, now, reuse, first)


def _first_token(lookups: Sequence[Lookup], seconds: float | None) -> FirstToken | None:
    if seconds is None or not lookups:
        return None
    hits = sum(lookup.tier is not None for lookup in lookups)
    return FirstToken("hit" if hits == len(lookups) else "partial" if hits else "miss", seconds)


def _loaded(lookups: Sequence[Lookup]) -> list[ReadingRecord]:
    """The readings whose blobs were loaded, rather than found decoded in the engine's memory."""
    return [each.record for each in lookups if each.record and each.tier not in (None, DecodedChunks.name)]


def _newly_gone(lookups: Sequence[Lookup]) -> list[tuple[ReadingRecord, Gone]]:
    return [
        (each.record, _GONE[each.reason])
        for each in lookups
        if each.record and each.record.gone is None and each.reason in _GONE
    ]


def _lookup(
    passage: Passage,
    outcome: ChunkOutcome,
    candidates: Sequence[BlobIdentity],
    records: Sequence[ReadingRecord],
    explain: Callable[..., MissReason],
) -> Lookup:
    by_key = {record.key: record for record in records}
    best, identity = candidates[0], candidates[-1]
    if outcome.tier is not None:
        second_best = outcome.reading is not None and outcome.reading != best.reading
        found = identity if second_best else best
        return Lookup(passage, outcome.tier, None, best if second_best else None, by_key.get(found.key))
    reason = str(outcome.reason)
    if reason not in list(StoreMiss):
        return Lookup(passage, None, MissReason(reason))
    own = by_key.get(identity.key)
    others = [
        record for record in records if record.ids_hash == identity.ids_hash and record.key != identity.key
    ]
    better = best if best is not identity else None
    return Lookup(passage, None, explain(StoreMiss(reason), own, others, expected=identity), better, own)
