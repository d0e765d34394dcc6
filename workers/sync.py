"""Syncs of folders as workers do them: in parts, one worker at a time for a folder."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from app.core.catalog import Catalog, Sync
from app.core.errors import PrereadError, Unavailable
from app.core.ids import new_id
from app.core.sync_folders import sync_folders_from
from workers.context import WorkerContext
from workers.sync_folder import FolderSync, Interrupted
from workers.sync_foresight import foresee
from workers.sync_report import SyncReport

log = logging.getLogger(__name__)

SLICE_SECONDS = 30.0
_RENEWALS_PER_LEASE = 3


def sync_next(
    context: WorkerContext,
    *,
    sync_id: str | None = None,
    slice_seconds: float = SLICE_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Work on the sync that waits longest, or on this one, for a slice. True: there may be more to do now.

    The slice begins when the folder has been looked through. Raises: DatabaseUnavailable.
    """
    owner = new_id("own")
    sync = context.catalog.take_sync(context.settings.tenant, owner, context.settings.lease_seconds, sync_id)
    if sync is None:
        return False
    until: float | None = None
    if sync.dry_run:
        slice_seconds = context.settings.task_seconds / 2  # what a part of it has found out is not kept
    report, ended = SyncReport.going_on(sync.report), False
    try:
        with _held(context.catalog, sync.id, owner, context.settings.lease_seconds) as is_ours:

            def go_on() -> None:
                nonlocal until
                until = clock() + slice_seconds if until is None else until
                if not is_ours() or clock() > until:
                    raise Interrupted

            ended = _work(sync, context, report, go_on)
    finally:
        context.catalog.leave_sync(sync.id, owner, report.as_json(), ended=ended)
    if ended:
        log.info("the folder %s is in step: %s", sync.source, report)
    return True


def sync_all(context: WorkerContext, seconds: float) -> dict[str, Any]:
    """The reports of a sync of every folder, by name; what takes longer is gone on with by itself, and told so."""
    folders = sync_folders_from(context.settings.sync_folders)
    wanted = {source: context.catalog.want_sync(context.settings.tenant, source).id for source in folders}
    until = time.monotonic() + seconds
    reports: dict[str, Any] = {}
    for source, sync_id in wanted.items():
        sync_next(context, sync_id=sync_id, slice_seconds=max(0.0, until - time.monotonic()))
        sync = context.catalog.get_sync(context.settings.tenant, sync_id)
        done = sync is not None and sync.ended_at is not None
        reports[source] = (sync.report if sync else None) if done else {"problem": "It is not finished yet."}
    return reports


def _work(sync: Sync, context: WorkerContext, report: SyncReport, go_on: Callable[[], None]) -> bool:
    """False: it is to be gone on with. Raises: DatabaseUnavailable."""
    root = sync_folders_from(context.settings.sync_folders).get(sync.source)
    if root is None:
        report.problem = f"PREREAD_SYNC_FOLDERS names no folder {sync.source} here."
        return True
    try:
        if sync.dry_run:
            foresee(context, sync.source, root, report, go_on)
        else:
            FolderSync(context, sync.source, root, sync.remove_many, report, go_on).run()
    except Interrupted:
        report.problem = "It took too long and was not finished." if sync.dry_run else None
        return sync.dry_run
    except (Unavailable, SQLAlchemyError):
        raise
    except Exception as error:
        log.exception("the sync of %s broke off", sync.source)
        report.problem = f"It broke off: {error!r}"
    return True


@contextmanager
def _held(catalog: Catalog, sync_id: str, owner: str, seconds: float) -> Iterator[Callable[[], bool]]:
    """Keep the lease for the time of the block; what it yields says whether it still is ours."""
    stop, lost = Event(), Event()

    def keep() -> None:
        while not lost.is_set() and not stop.wait(seconds / _RENEWALS_PER_LEASE):
            try:
                if not catalog.renew_sync(sync_id, owner, seconds):
                    lost.set()
            except (PrereadError, SQLAlchemyError) as error:
                log.warning("the lease of a sync was not renewed: %s", error)

    thread = Thread(target=keep, name=f"sync-{sync_id}", daemon=True)
    thread.start()
    try:
        yield lambda: not lost.is_set()
    finally:
        stop.set()
        thread.join()
