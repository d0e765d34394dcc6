"""The state of the service. Blocking: routes call it in a thread."""

from dataclasses import asdict

from app.web.access.audit import Action, Audit
from app.web.schemas.system import (
    CacheDocument,
    CacheReport,
    PrecomputeMode,
    PrecomputeOut,
    ReasonMisses,
    StatusOut,
    TierHits,
    TierOut,
)
from app.web.services import Services
from generator.engine import EngineStatus
from generator.errors import EngineFailed, EngineUnavailable
from generator.gate import gate_or_conservative
from workers.precompute import start_by_hand


class System:
    def __init__(self, services: Services, tenant: str) -> None:
        self._services = services
        self._catalog = services.catalog
        self._tenant = tenant
        self._is_operators = tenant == services.settings.tenant

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
