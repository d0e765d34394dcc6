"""Jobs, dropped messages, the nightly run and re-indexing as Prometheus is told of them."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from app.core.catalog import Catalog, JobState, Run, RunKind, RunState
from retrieval.errors import IndexUnavailable
from workers.reindex import Reindexing
from workers.transport import DropReason

_TASKS = ("ingest", "preread", "delete")


def job_metrics(catalog: Catalog, tenant: str) -> Iterator[Metric]:
    """How many jobs of each kind are in each state, zeros included, and since when the oldest waits, if any does."""
    tallies = {(tally.task, tally.state): tally for tally in catalog.job_tallies(tenant)}
    jobs = GaugeMetricFamily("preread_jobs", "Jobs by kind and state.", labels=["tenant", "kind", "state"])
    oldest = GaugeMetricFamily(
        "preread_oldest_waiting_job_timestamp_seconds",
        "Since when the job waits that waits longest, by kind.",
        labels=["tenant", "kind"],
    )
    for task in _TASKS:
        for state in JobState:
            tally = tallies.get((task, state))
            jobs.add_metric([tenant, task, state], tally.jobs if tally else 0)
        waiting = tallies.get((task, JobState.WAITING))
        if waiting is not None and waiting.oldest_at is not None:
            oldest.add_metric([tenant, task], waiting.oldest_at.timestamp())
    yield from (jobs, oldest)


def drop_metrics(catalog: Catalog) -> Iterator[Metric]:
    """Of the whole queue: a message that cannot be read tells no tenant."""
    dropped = catalog.dropped_messages()
    family = CounterMetricFamily(
        "preread_dropped_messages", "Messages that were dropped, by reason.", labels=["reason"]
    )
    for reason in sorted({*DropReason, *dropped}):
        family.add_metric([reason], dropped.get(reason, 0))
    yield family


def run_metrics(catalog: Catalog, tenant: str) -> Iterator[Metric]:
    """The run that is open, and the last nightly one that ended; nothing of that while there has been none."""
    run = catalog.open_run(tenant)
    is_open = GaugeMetricFamily("preread_run_open", "Whether a run of pre-reading is open.", labels=["tenant", "kind"])
    for kind in RunKind:
        is_open.add_metric([tenant, kind], run is not None and run.kind is kind)
    yield is_open
    last = catalog.last_ended_run(tenant, RunKind.NIGHTLY)
    if last is not None and last.ended_at is not None:
        yield from _ended(last, last.ended_at)


def reindex_metrics(reindexing: Reindexing | None) -> Iterator[Metric]:
    """Nothing where another web process owns the index, or where it does not answer."""
    if reindexing is None:
        return
    with suppress(IndexUnavailable):
        left = reindexing.left()
        yield GaugeMetricFamily("preread_reindex_chunks_left", "Chunks that are still to be indexed anew.", left)


def _ended(run: Run, ended_at: datetime) -> Iterator[Metric]:
    end = GaugeMetricFamily(
        "preread_nightly_end_timestamp_seconds", "When the last nightly run ended.", labels=["tenant"]
    )
    end.add_metric([run.tenant], ended_at.timestamp())
    complete = GaugeMetricFamily(
        "preread_nightly_complete", "Whether the last nightly run did all it had planned.", labels=["tenant"]
    )
    complete.add_metric([run.tenant], run.state is RunState.DONE)
    documents = GaugeMetricFamily(
        "preread_nightly_documents", "Documents of the last nightly run, by outcome.", labels=["tenant", "outcome"]
    )
    for outcome in ("planned", "done", "skipped", "failed", "left"):
        documents.add_metric([run.tenant, outcome], getattr(run, outcome))
    yield from (end, complete, documents)


__all__ = ["drop_metrics", "job_metrics", "reindex_metrics", "run_metrics"]
