"""Runs of pre-reading: at night within a window, or by hand.

A run is rows in the database. Every slice of it is a task of its own, at the end of the queue, so that questions and
uploads come in between, several workers share it, and what kills one costs no more than its slice. A document that a
nightly run puts back to be pre-read is left to nightly runs, and not finished by day, unless a question misses it.
"""

import logging
from collections.abc import Callable
from datetime import datetime, time
from functools import partial
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from app.core.catalog import Catalog, Document, DocumentNotFound, DocumentState, ReadingState, Run, RunKind, RunState
from app.core.errors import PrereadError
from app.core.settings import Settings
from generator.errors import EngineFailed, EngineUnavailable
from workers.attempts import Outcome, attempt
from workers.broker import NIGHT, READING
from workers.claim import claimed
from workers.context import WorkerContext
from workers.precompute import forget
from workers.preread import SLICE_SECONDS, preread
from workers.schedule import window_at
from workers.sync import sync_all
from workers.value import by_value

log = logging.getLogger(__name__)


class Work(Protocol):
    def __call__(self, document_id: str, context: WorkerContext, *, slice_seconds: float) -> bool: ...


def run_of_now(catalog: Catalog, settings: Settings, now: datetime) -> Run | None:
    """The run that is to go on: ends those whose window is over, and opens the night's where a tenant had none yet.

    One at a time, whoever's it is: one by hand first, then the operator's own night, then the other tenants' by name.
    """
    at, until = time.fromisoformat(settings.nightly_at), time.fromisoformat(settings.nightly_until)
    zone = ZoneInfo(settings.timezone)
    open_runs = catalog.open_runs()
    over = [run for run in open_runs if run.until is not None and now >= run.until]
    for run in over:
        catalog.end_run(run.id, RunState.STOPPED, "Its window is over.")
        log.info("%s: the nightly run has stopped with its window; %d documents are left", run.tenant, run.left)
    if going_on := [run for run in open_runs if run not in over]:
        return going_on[0]
    window = window_at(now, at, until, zone)
    if window is None:
        return None
    for tenant in dict.fromkeys([settings.tenant, *catalog.tenants()]):
        last = catalog.last_nightly_start(tenant)
        if last is None or last < window.start:
            wanted = by_value(catalog.asked_documents(tenant))
            log.info("%s: the nightly run begins: %d documents, until %s", tenant, len(wanted), window.end)
            return catalog.start_run(tenant, RunKind.NIGHTLY, wanted, window.end)
    return None


def sync_folders(run: Run, context: WorkerContext, now: datetime) -> dict[str, Any]:
    """The first step of a nightly run, as a part of its report; what it leaves unfinished is gone on with by itself."""
    seconds = context.settings.task_seconds / 2
    if run.until is not None:
        seconds = min(seconds, (run.until - now).total_seconds())
    try:
        reports = sync_all(context, seconds)
    except PrereadError as error:
        log.warning("folders are not in step: %s", error)
        return {"synced": {"problem": error.message}}
    return {"synced": reports} if reports else {}


def priority_of(run: Run) -> int:
    return NIGHT if run.kind is RunKind.NIGHTLY else READING


def work_on(
    run: Run,
    context: WorkerContext,
    now: datetime,
    *,
    clock: Callable[[], float],
    work: Work = preread,
    slice_seconds: float = SLICE_SECONDS,
) -> bool:
    """Pre-read the next document of the run for a slice, or end the run. True: there is more to do now."""
    catalog = context.catalog
    try:
        status = context.engine.status()
    except (EngineUnavailable, EngineFailed) as error:
        log.warning("the run waits: %s", error)
        return False
    if not status.fusion:
        catalog.end_run(run.id, RunState.STOPPED, f"Nothing is pre-read: {status.fusion_reason}")
        return False
    found = catalog.next_of_run(run.id)
    if found is None:
        if not catalog.left_of_run(run.id):
            catalog.end_run(run.id, RunState.DONE)
        return False
    document_id, begun = found
    try:
        document = catalog.get_document(run.tenant, document_id)
    except DocumentNotFound:
        return True
    outcome = None if begun else _without_work(document, run, catalog)
    if outcome is not None:
        catalog.add_to_run(run.id, document_id, outcome, 0, 0, 0)
        return True
    if not begun and not _begin(run, document_id, context):
        return True
    if run.until is not None:
        slice_seconds = min(slice_seconds, (run.until - now).total_seconds())
    slice_of_work = partial(work, document_id, context, slice_seconds=slice_seconds)
    return _slice(run, document, context, clock, slice_of_work, made_before=begun or run.again)


def _begin(run: Run, document_id: str, context: WorkerContext) -> bool:
    """Put the document back to be pre-read, its chunk KV forgotten where all is made again.

    It is held meanwhile: of two workers that took the same document, the later would forget what the first has made.
    False: another worker has it, or had.
    """
    catalog = context.catalog
    with claimed(catalog, document_id, context.settings.lease_seconds) as claim:
        if claim is None or not catalog.is_to_begin(run.id, document_id):
            return False
        if run.again:
            forget(run.tenant, document_id, catalog=catalog, purge=context.purge)
        catalog.begin_of_run(run.id, document_id)
    return True


def _without_work(document: Document, run: Run, catalog: Catalog) -> str | None:
    """How a document ends that there is nothing to be done of: it has failed, or waits in the queue by itself."""
    if document.state is DocumentState.FAILED:
        return "failed"
    if document.state is DocumentState.INDEXED and (run.kind is RunKind.MANUAL or catalog.is_night_only(document.id)):
        return None
    return None if document.state is DocumentState.PREREAD else "skipped"


def _slice(
    run: Run,
    document: Document,
    context: WorkerContext,
    clock: Callable[[], float],
    work: Callable[[], bool],
    *,
    made_before: bool,
) -> bool:
    catalog = context.catalog
    before = _ready(document, catalog)
    began = clock()
    outcome = attempt("preread", document.id, context, work)
    ready = _ready(document, catalog)
    made = [ready[key] for key in ready if before.get(key) != ready[key]]
    ended = None if outcome is Outcome.MORE else _ended(document, catalog, made=bool(made) or made_before)
    catalog.add_to_run(
        run.id, document.id, ended, sum(tokens for _, tokens, _ in made), sum(size for *_, size in made),
        clock() - began if made else 0,
    )  # fmt: skip
    return outcome is not Outcome.WAITS


def _ready(document: Document, catalog: Catalog) -> dict[str, tuple[datetime, int, int]]:
    """When each reading of the document's chunks became ready, its tokens and bytes."""
    chunks = catalog.chunks_of(document.current_version_id) if document.current_version_id else []
    readings = catalog.readings(document.tenant, {chunk.ids_hash for chunk in chunks})
    return {
        reading.key: (reading.updated_at, reading.n_tokens, reading.bytes)
        for reading in readings
        if reading.state is ReadingState.READY
    }


def _ended(document: Document, catalog: Catalog, *, made: bool) -> str | None:
    """None: it is not finished."""
    try:
        state = catalog.get_document(document.tenant, document.id).state
    except DocumentNotFound:
        return "skipped"
    if state is DocumentState.PREREAD:
        return "done" if made else "skipped"
    return {DocumentState.FAILED: "failed", DocumentState.INDEXED: None}.get(state, "skipped")
