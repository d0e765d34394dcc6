"""How wake-ups travel: Celery over Redis, JSON only, no result backend."""

import json
from base64 import b64decode
from datetime import timedelta
from typing import Any

from celery import Celery

from app.core.settings import Settings
from workers.schedule import Nightly

QUEUE = "preread"

# Redis queues answer the lowest number first. A miss: a question that is asked now may be asked again. Within uploads
# every file is read in before any is pre-read, since a document answers from then on.
MISS, UPLOAD, READING, NIGHT = 0, 3, 6, 9
PRIORITIES = (MISS, UPLOAD, READING, NIGHT)

EXPIRES_SECONDS = 3600
"""A wake-up that nobody has taken by then is dropped: reconcile sends what is still wanted anew."""

ORPHANS_SECONDS = 60

REQUEST_HEADER = "preread_request_id"
"""A message's header: the request that a wake-up goes back to, for the log; None: nobody's."""

_CONNECT_SECONDS = 2
_ANSWER_SECONDS = 10
_LOADING_SECONDS = 120.0


def hard_limit_seconds(settings: Settings) -> int:
    """A process that a task's own time limit could not move is ended then."""
    return settings.task_seconds * 3 // 2 + 1


def make_celery(settings: Settings) -> Celery:
    """The Celery application that web sends with and that workers and beat run.

    A task never lasts as long as the broker's redelivery time: `preread` works in short slices, whatever hangs is given
    up at the soft limit, and ended with its process at the hard one; reconcile takes the document up again.
    """
    hard_limit = hard_limit_seconds(settings)
    celery = Celery("preread", broker=settings.effective_redis_url, include=["workers.tasks"], set_as_current=False)
    celery.conf.update(
        task_default_queue=QUEUE,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_soft_time_limit=settings.task_seconds,
        task_time_limit=hard_limit,
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.worker_processes,
        worker_proc_alive_timeout=_LOADING_SECONDS,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "visibility_timeout": 2 * hard_limit,
            "socket_connect_timeout": _CONNECT_SECONDS,
            "socket_timeout": _ANSWER_SECONDS,
            # For senders; a worker tries to reach its broker for as long as it lives.
            "max_retries": 1,
            "interval_start": 0,
            "interval_step": 0.1,
            "interval_max": 0.2,
            "priority_steps": list(PRIORITIES),
            "queue_order_strategy": "priority",
        },
        timezone=settings.timezone,
        beat_schedule_filename=str(settings.state_dir / "run" / "beat"),
        beat_schedule={
            "reconcile": {
                "task": "reconcile",
                "schedule": timedelta(seconds=settings.reconcile_seconds),
                "options": {"priority": MISS, "expires": settings.reconcile_seconds},
            },
            "orphans": {
                "task": "orphans",
                "schedule": timedelta(seconds=ORPHANS_SECONDS),
                "options": {"priority": UPLOAD, "expires": ORPHANS_SECONDS},
            },
            "nightly": {
                "task": "run",
                "schedule": Nightly(settings.nightly_at, settings.timezone),
                "options": {"priority": MISS, "expires": EXPIRES_SECONDS},
            },
        },
    )
    return celery


def queued(celery: Celery) -> set[tuple[str, str]]:
    """The (task, document id) of every wake-up that no worker has taken yet.

    Raises kombu's `OperationalError` when the broker is away.
    """
    with celery.connection_for_read() as connection:
        connection.ensure_connection(max_retries=1, timeout=_CONNECT_SECONDS)
        channel: Any = connection.default_channel
        lists = [
            channel.client.lrange(channel._q_for_pri(QUEUE, priority), 0, -1)  # noqa: SLF001
            for priority in PRIORITIES
        ]
    return {wake_up for messages in lists for message in messages if (wake_up := _wake_up(message))}


def _wake_up(message: bytes | str) -> tuple[str, str] | None:
    """A message's task and its first argument, "" where it has none; None for what is no message of ours."""
    try:
        envelope = json.loads(message)
        args = json.loads(b64decode(envelope["body"]))[0]
        return str(envelope["headers"]["task"]), str(args[0]) if args else ""
    except (ValueError, KeyError, TypeError, IndexError):
        return None
