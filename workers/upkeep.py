"""Repairing what a crash, a lost wake-up or time left undone."""

import logging
from collections.abc import Collection
from datetime import datetime

from app.core.catalog import DocumentState
from app.core.errors import SetupError, Unavailable
from kvstore.staging import sweep_staging
from workers.context import WorkerContext
from workers.deletion import finish_deletion
from workers.labelling import tell_index
from workers.nightly import priority_of, run_of_now
from workers.tombstones import purge_again

log = logging.getLogger(__name__)

_LEFTOVER_SECONDS = 3600


def reconcile(context: WorkerContext, queued: Collection[tuple[str, str]], now: datetime) -> int:
    """Finish deletions, tell the index of labels, work off tombstones and wake workers for what was forgotten.

    Returns for how many documents workers were woken. `queued` are the (task, document id) that wait in the queue
    already: whatever waits there for a worker that is busy is starved, not stuck, and repeating it would make the queue
    grow. What a try has just failed for has its pause.
    """
    woken = 0
    not_yet = context.catalog.waiting_for_their_time(now)
    for document in context.catalog.documents_needing_work(now):
        if document.state is DocumentState.DELETING:
            try:
                finish_deletion(document, catalog=context.catalog, purge=context.purge)
            except (Unavailable, SetupError) as error:
                log.warning("the deletion of %s waits: %s", document.id, error)
            continue
        if document.id in not_yet:
            continue
        only_preread = document.state is DocumentState.INDEXED and document.pending_version_id is None
        if ("preread" if only_preread else "ingest", document.id) not in queued:
            wake = context.waker.wake_preread if only_preread else context.waker.wake_ingest
            woken += wake(document.id)
    run = run_of_now(context.catalog, context.settings, now)
    if run is not None and ("run", "") not in queued:
        context.waker.wake_run(priority_of(run))
    if context.catalog.has_waiting_sync(context.settings.tenant) and ("sync", "") not in queued:
        context.waker.wake_sync()
    tell_index(context.catalog, context.index)
    purge_again(context, now)
    sweep_staging(context.settings.effective_staging_dir, _LEFTOVER_SECONDS, now.timestamp())
    context.files.sweep(_LEFTOVER_SECONDS, now.timestamp())
    return woken
