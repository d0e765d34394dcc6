"""The service's numbers for Prometheus, read from the database and the tiers whenever they are asked for.

Counters live in the database, so every web process tells the same ones, and no restart makes them less.
"""

from collections.abc import Iterable, Iterator
from itertools import accumulate

import psutil
from prometheus_client import CollectorRegistry, Metric, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from app.core.access import Principal
from app.core.catalog import BOUNDS_MS, DocumentState, FirstTokens, LookupCount, ReadingState
from app.web.answer_metrics import answer_metrics
from app.web.job_metrics import drop_metrics, job_metrics, reindex_metrics, run_metrics
from app.web.services import Services
from kvstore.decoded import DecodedChunks
from kvstore.reasons import MissReason


def exposition(services: Services, principal: Principal) -> bytes:
    """Metrics in Prometheus' text format 0.0.4: the tenant's, and for who runs the machine, its own too.

    Blocking. Raises DatabaseUnavailable.
    """
    registry = CollectorRegistry()
    in_full = principal.tenant == services.settings.tenant
    if in_full:
        ProcessCollector(registry=registry)
    registry.register(ServiceCollector(services, principal.tenant, in_full=in_full))
    return generate_latest(registry)


class ServiceCollector(Collector):
    """One tenant's counters and stock; `in_full`, tiers, queue and machine too, whoever uses them."""

    def __init__(self, services: Services, tenant: str, *, in_full: bool = True) -> None:
        self._services = services
        self._catalog = services.catalog
        self._tenant = tenant
        self._in_full = in_full
        self._tiers = [tier.name for tier in services.store.tiers]

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield from self._lookups()
        yield self._first_tokens()
        yield from self._savings()
        yield from self._at_rest()
        yield from self._states()
        yield from job_metrics(self._catalog, self._tenant)
        yield from run_metrics(self._catalog, self._tenant)
        if self._in_full:
            yield from self._machine_wide()

    def _machine_wide(self) -> Iterator[Metric]:
        yield from drop_metrics(self._catalog)
        yield from reindex_metrics(self._services.reindexing)
        yield from self._tier_gauges()
        yield from answer_metrics(self._services.admission)
        yield from _machine()

    def _lookups(self) -> Iterator[Metric]:
        totals = self._catalog.lookup_totals(self._tenant)
        hits = _complete(totals.hits, [DecodedChunks.name, *self._tiers])
        misses = _complete(totals.misses, MissReason)
        labels = ["tenant", "outcome", "detail"]
        chunks = CounterMetricFamily("preread_lookup_chunks", "Chunks looked up, by tier or reason.", labels=labels)
        tokens = CounterMetricFamily("preread_lookup_tokens", "Tokens of chunks looked up.", labels=labels)
        for outcome, counts in (("hit", hits), ("miss", misses)):
            for count in counts.values():
                chunks.add_metric([self._tenant, outcome, count.detail], count.chunks)
                tokens.add_metric([self._tenant, outcome, count.detail], count.tokens)
        yield from (chunks, tokens)

    def _first_tokens(self) -> Metric:
        found = self._catalog.first_tokens(self._tenant)
        family = HistogramMetricFamily(
            "preread_first_token_seconds",
            "From a question's arrival to the first text of its answer.",
            labels=["tenant", "outcome"],
        )
        for outcome in ("hit", "partial", "miss"):
            counts = found.get(outcome, FirstTokens({}, 0, 0.0))
            sums = accumulate(counts.within_ms.get(ms, 0) for ms in BOUNDS_MS)
            buckets = [(f"{ms / 1000:g}", float(sum_)) for ms, sum_ in zip(BOUNDS_MS, sums, strict=True)]
            buckets.append(("+Inf", sum(counts.within_ms.values()) + float(counts.above)))
            family.add_metric([self._tenant, outcome], buckets, counts.seconds)
        return family

    def _savings(self) -> Iterator[Metric]:
        total = self._catalog.saving_totals(self._tenant)
        for name, meaning, value in (
            ("reused_tokens", "Context tokens taken from chunk KV.", total.reused_tokens),
            ("fresh_tokens", "Context tokens computed all the same.", total.fresh_tokens),
            ("saved_seconds", "Seconds of prefill that reused tokens saved, estimated.", total.saved_seconds),
            ("load_seconds", "Seconds spent on loading chunk KV.", total.load_seconds),
            ("loaded_bytes", "Bytes of chunk KV loaded from tiers.", total.loaded_bytes),
            ("loaded_16bit_bytes", "What these would be in 16 bits a value.", total.loaded_bytes_in_16_bits),
        ):
            yield self._one(CounterMetricFamily(f"preread_{name}", meaning, labels=["tenant"]), value)

    def _at_rest(self) -> Iterator[Metric]:
        kv = self._catalog.kv_at_rest(self._tenant)
        for name, meaning, value in (
            ("kv_bytes", "Bytes of chunk KV at rest, each blob once.", kv.bytes),
            ("kv_16bit_bytes", "What these would be in 16 bits a value, where known.", kv.known_bytes_in_16_bits),
            ("kv_compression_ratio", "Bytes in 16 bits a value by bytes at rest.", kv.compression_ratio),
        ):
            if value is not None:
                yield self._one(GaugeMetricFamily(f"preread_{name}", meaning, labels=["tenant"]), value)

    def _states(self) -> Iterator[Metric]:
        documents, readings = self._catalog.state_counts(self._tenant), self._catalog.reading_counts(self._tenant)
        labels = ["tenant", "state"]
        by_state = GaugeMetricFamily("preread_documents", "Documents by state.", labels=labels)
        for document_state in DocumentState:
            by_state.add_metric([self._tenant, document_state], documents.get(document_state, 0))
        yield by_state
        by_state = GaugeMetricFamily("preread_readings", "Readings of chunks by state.", labels=labels)
        for reading_state in ReadingState:
            by_state.add_metric([self._tenant, reading_state], readings.get(reading_state, 0))
        yield by_state

    def _tier_gauges(self) -> Iterator[Metric]:
        answered = {stats.name: stats for stats in self._services.store.stats()}
        up = GaugeMetricFamily("preread_tier_up", "Whether the tier answers.", labels=["tier"])
        entries = GaugeMetricFamily("preread_tier_entries", "Entries in the tier.", labels=["tier"])
        held = GaugeMetricFamily("preread_tier_bytes", "Bytes in the tier.", labels=["tier"])
        limit = GaugeMetricFamily("preread_tier_limit_bytes", "Most bytes in the tier.", labels=["tier"])
        for name in self._tiers:
            up.add_metric([name], name in answered)
            if name in answered:
                stats = answered[name]
                entries.add_metric([name], stats.entries)
                held.add_metric([name], stats.bytes)
                if stats.limit_bytes is not None:
                    limit.add_metric([name], stats.limit_bytes)
        yield from (up, entries, held, limit)

    def _one(self, family: CounterMetricFamily | GaugeMetricFamily, value: float) -> Metric:
        family.add_metric([self._tenant], value)
        return family


def _complete(counts: Iterable[LookupCount], details: Iterable[str]) -> dict[str, LookupCount]:
    """Zeros included: a counter that first appears above zero has no increase that Prometheus could see."""
    return {str(detail): LookupCount(str(detail), 0, 0) for detail in details} | {each.detail: each for each in counts}


def _machine() -> Iterator[Metric]:
    memory = psutil.virtual_memory()
    yield GaugeMetricFamily("preread_machine_memory_bytes", "Memory of web's machine.", memory.total)
    used = memory.total - memory.available
    yield GaugeMetricFamily("preread_machine_memory_used_bytes", "Memory of web's machine in use.", used)


__all__ = ["ServiceCollector", "exposition"]
