"""The Celery application of this process: `celery -A workers.celery_app worker|beat`."""

from contextlib import suppress
from typing import Any

from billiard.exceptions import TimeLimitExceeded, WorkerLostError
from celery.signals import (
    setup_logging,
    task_failure,
    task_postrun,
    task_prerun,
    task_rejected,
    task_unknown,
    worker_process_init,
    worker_ready,
)
from kombu.transport import TRANSPORT_ALIASES

from app.core.catalog import Catalog
from app.core.errors import PrereadError
from app.core.logs import configure_logging
from app.core.request_context import RequestContext, enter_request, is_sane_request_id
from app.core.settings import get_settings
from workers import transport
from workers.broker import EXPIRES_SECONDS, MISS, REQUEST_HEADER, UPLOAD, make_celery

TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), "workers.transport:Transport"))

_settings = get_settings()
(_settings.state_dir / "run").mkdir(parents=True, exist_ok=True)  # beat keeps its schedule there
app = make_celery(_settings)
app.set_current()


@setup_logging.connect
def _log(loglevel: str | int, **_: Any) -> None:
    """In place of Celery's own handlers."""
    configure_logging(_settings, loglevel)


@task_prerun.connect
def _enter_request(task: Any, **_: Any) -> None:
    request_id = task.request.get(REQUEST_HEADER)
    enter_request(RequestContext(request_id) if is_sane_request_id(request_id) else None)


@task_postrun.connect
def _leave_request(**_: Any) -> None:
    enter_request(None)


@worker_process_init.connect
def _load(**_: Any) -> None:
    """Seconds of work that no task's time limit should count; what goes wrong is told by the first task."""
    with suppress(Exception):
        from workers.work import get_work

        get_work()


@worker_ready.connect
def _repair_at_start(**_: Any) -> None:
    app.send_task("reconcile", priority=MISS, expires=EXPIRES_SECONDS)
    app.send_task("orphans", priority=UPLOAD, expires=EXPIRES_SECONDS)


@task_unknown.connect
def _drop_unknown(name: str, message: Any, **_: Any) -> None:
    transport.dropped(transport.DropReason.UNKNOWN_TASK, f"{name} {message.body!r}")


@task_rejected.connect
def _drop_rejected(message: Any, exc: Exception | None = None, **_: Any) -> None:
    transport.dropped(transport.DropReason.BAD_MESSAGE, f"{exc!r} {message.body!r}")


@task_failure.connect
def _drop_failed(sender: Any, exception: BaseException, args: Any, **_: Any) -> None:
    if isinstance(exception, (TimeLimitExceeded, WorkerLostError)):
        return  # of documents these are counted as tries
    transport.dropped(transport.DropReason.FAILED_TASK, f"{sender.name} {args!r}: {exception!r}")


def _count(reason: str, text: str) -> None:
    # Opened for this alone: this process forks, and connections do not survive that.
    catalog = Catalog(_settings.effective_database_url)
    try:
        catalog.count_dropped(reason, text)
    except PrereadError as error:
        transport.log.warning("it was not counted: %s", error)
    finally:
        catalog.close()


transport.on_dropped.append(_count)
