"""The state of the service. Blocking: routes call it in a thread."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import PrereadError, Unavailable
from app.web.access.audit import Action, Audit
from app.web.schemas.system import (
    CacheDocument,
    CacheReport,
    Part,
    PrecomputeMode,
    PrecomputeOut,
    Readiness,
    ReasonMisses,
    StatusOut,
    TierHits,
    TierOut,
)
from app.web.services import Services
from generator.engine import EngineStatus
from generator.errors import EngineFailed, EngineUnavailable
from generator.gate import gate_or_conservative
from kvstore.tiers.probes import PART_NAMES, Probe
from workers.precompute import start_by_hand


class WorkerAway(Unavailable):
    code = "worker_away"


class System:
    def __init__(self, services: Services, tenant: str) -> None:
        self._services = services
        self._catalog = services.catalog
        self._tenant = tenant
        self._is_operators = tenant == services.settings.tenant

    def readiness(self) -> Readiness:
        parts = [
            _part("database", self._check_database),
            _part("queue", self._check_queue),
            _part("engine", self._check_engine),
            _part("index", self._check_index),
            _part("worker", self._check_worker),
            *self._kv_parts(),
        ]
        return Readiness(ready=all(part.ok or not part.required for part in parts), parts=parts)

    def status(self) -> StatusOut:
        engine = self._engine_status()
        counts = self._catalog.chunk_counts(self._tenant, counted=self._services.counted_readings)
        settings = self._services.settings
        return StatusOut(
            model=settings.model,
            embedding_model=settings.embedding_model,
            engine_ready=engine is not None,
            fusion=engine is not None and engine.fusion,
            fusion_reason=engine.fusion_reason if engine else "the engine does not answer",
            policy=self._services.default_policy,
            conditioning=self._services.conditioning,
            gate=gate_or_conservative(settings.state_dir, self._services.fingerprint).summary,
            documents={str(state): count for state, count in self._catalog.state_counts(self._tenant).items()},
            chunks=counts.chunks,
            chunks_ready=counts.ready,
        )

    def precompute(self, mode: PrecomputeMode, document_id: str | None, audit: Audit) -> PrecomputeOut:
        """Raises DocumentNotFound."""
        if document_id is not None:
            self._catalog.get_document(self._tenant, document_id)
        run = start_by_hand(
            self._tenant,
            document_id,
            again=mode is PrecomputeMode.ALL,
            catalog=self._catalog,
            waker=self._services.waker,
            lanes=self._services.settings.worker_processes,
        )
        audit.note(Action.PRECOMPUTE, f"{document_id or 'every document'}, {mode}")
        return PrecomputeOut(documents=run.planned, run_id=run.id)

    def cache(self, limit: int, offset: int) -> CacheReport:
        totals = self._catalog.lookup_totals(self._tenant)
        saving = self._catalog.saving_totals(self._tenant)
        at_rest = self._catalog.kv_at_rest(self._tenant)
        table = self._catalog.document_table(self._tenant, limit, offset, counted=self._services.counted_readings)
        return CacheReport(
            lookups=totals.lookups,
            hits=totals.hit_chunks,
            misses=totals.miss_chunks,
            hit_rate=totals.hit_rate,
            token_hit_rate=totals.token_hit_rate,
            tokens_reused=totals.tokens_reused,
            seconds_saved=saving.saved_seconds,
            load_seconds=saving.load_seconds,
            hits_by_tier=[TierHits(tier=hit.detail, chunks=hit.chunks, tokens=hit.tokens) for hit in totals.hits],
            misses_by_reason=[
                ReasonMisses(reason=miss.detail, chunks=miss.chunks, tokens=miss.tokens) for miss in totals.misses
            ],
            kv_bytes=at_rest.bytes,
            compression_ratio=at_rest.compression_ratio,
            tiers=[TierOut(**asdict(tier)) for tier in self._services.store.stats()] if self._is_operators else [],
            documents=[
                CacheDocument(
                    document_id=row.document.id,
                    name=row.document.name,
                    state=row.document.state,
                    chunks=row.chunks,
                    chunks_ready=row.chunks_ready,
                    tokens=row.tokens,
                    kv_bytes=row.kv_bytes,
                    hits=row.hits,
                    misses=row.misses,
                )
                for row in table.rows
            ],
            documents_total=table.total,
        )

    def _engine_status(self) -> EngineStatus | None:
        try:
            return self._services.engine.status()
        except (EngineUnavailable, EngineFailed):
            return None

    def _kv_parts(self) -> list[Part]:
        """Of the tiers of chunk KV, asked at the same time: dead ones cost no more than the longest time-out."""
        probes = self._services.kv_probes
        if not probes:
            return []
        with ThreadPoolExecutor(len(probes)) as threads:
            return list(threads.map(_kv_part, probes, probes.values()))

    def _check_database(self) -> str:
        return f"{sum(self._catalog.state_counts(self._tenant).values())} documents"

    def _check_queue(self) -> str:
        self._services.waker.check()
        return "answers"

    def _check_engine(self) -> str:
        status = self._services.engine.status()
        return f"serves {status.model}" + ("" if status.fusion else f"; does not fuse: {status.fusion_reason}")

    def _check_index(self) -> str:
        index, reindexing = self._services.index, self._services.reindexing
        index.check(self._services.embedder.dimension)
        held = f"{index.count(self._tenant):,} chunks"
        progress = reindexing.progress() if reindexing else ""
        return f"{held}, of which {progress}" if progress else held

    def _check_worker(self) -> str:
        if not self._services.waker.workers():
            raise WorkerAway("No worker answers.", "Start `preread worker`, or see its log.")
        return "answers"


def _kv_part(tier: str, probe: Probe) -> Part:
    def check() -> str:
        probe()
        return "answers"

    return _part(PART_NAMES[tier], check, required=False)


def _part(name: str, check: Callable[[], str], *, required: bool = True) -> Part:
    try:
        ok, message, hint = True, check(), ""
    except PrereadError as error:
        ok, message, hint = False, error.message, error.hint
    except SQLAlchemyError as error:
        ok, message, hint = False, f"The database does not answer: {error}", "See its log."
    return Part(name=name, ok=ok, required=required, message=message, hint=hint)
