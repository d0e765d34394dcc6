"""The Celery tasks: thin, and free of heavy imports, which belong after the fork."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

from celery import Task, shared_task

from workers.broker import READING
from workers.time_limit import OutOfTime, deferred, install

if TYPE_CHECKING:
    from workers.work import Work

log = logging.getLogger(__name__)

P = ParamSpec("P")


def within_time(task: Callable[P, None]) -> Callable[P, None]:
    """The soft time limit also ends what does not count its tries, and never the process."""

    @wraps(task)
    def limited(*args: P.args, **options: P.kwargs) -> None:
        install()  # by each task: Celery's own comes after everything that runs at the start of a process
        try:
            task(*args, **options)
        except OutOfTime:
            log.error("%s was given up: it took too long", task.__name__)

    return limited


def _work() -> "Work":
    with deferred():
        from workers.work import get_work

        return get_work()


@shared_task(name="ingest")
@within_time
def ingest(document_id: str) -> None:
    _work().ingest(document_id)


@shared_task(name="preread", bind=True)
@within_time
def preread(self: "Task[[str], None]", document_id: str) -> None:
    priority = (self.request.delivery_info or {}).get("priority")
    _work().preread(document_id, READING if priority is None else priority)


@shared_task(name="delete")
@within_time
def delete(document_id: str) -> None:
    _work().delete(document_id)


@shared_task(name="run")
@within_time
def run() -> None:
    """A slice of the run that is open, or the start of the night's."""
    _work().run()


@shared_task(name="sync")
@within_time
def sync() -> None:
    """A slice of the sync that waits longest."""
    _work().sync()


@shared_task(name="reconcile")
@within_time
def reconcile() -> None:
    from workers.broker import queued
    from workers.celery_app import app

    _work().reconcile(queued(app))


@shared_task(name="orphans")
@within_time
def orphans() -> None:
    _work().remove_orphans()
