"""The Celery tasks: thin, and free of heavy imports, which belong after the fork."""

import logging
from datetime import UTC, datetime

from celery import shared_task

from app.core.errors import SetupError, Unavailable

log = logging.getLogger(__name__)


@shared_task(name="ingest")
def ingest_task(document_id: str) -> None:
    from workers.context import get_context
    from workers.ingest import ingest

    try:
        ready = ingest(document_id, get_context())
    except (Unavailable, SetupError) as error:
        log.warning("%s waits: %s", document_id, error)
        return
    if ready:
        get_context().waker.wake_preread(document_id)


@shared_task(name="preread")
def preread_task(document_id: str) -> None:
    from workers.context import get_context
    from workers.preread import preread

    try:
        unfinished = preread(document_id, get_context())
    except (Unavailable, SetupError) as error:
        log.warning("%s waits: %s", document_id, error)
        return
    if unfinished:
        get_context().waker.wake_preread(document_id)


@shared_task(name="reconcile")
def reconcile_task() -> None:
    from workers.broker import queued
    from workers.celery_app import app
    from workers.context import get_context
    from workers.upkeep import reconcile

    reconcile(get_context(), queued(app), datetime.now(UTC))


@shared_task(name="nightly")
def nightly_task() -> None:
    from workers.context import get_context
    from workers.precompute import precompute

    context = get_context()
    documents = precompute(
        context.settings.tenant, None, again=False, catalog=context.catalog, purge=context.purge, waker=context.waker
    )
    log.info("the nightly job woke %d documents", documents)


@shared_task(name="delete")
def delete_task(document_id: str) -> None:
    from workers.context import get_context
    from workers.deletion import finish_deletion_of

    context = get_context()
    try:
        finish_deletion_of(document_id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    except (Unavailable, SetupError) as error:
        log.warning("the deletion of %s waits: %s", document_id, error)
