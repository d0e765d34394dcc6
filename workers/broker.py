"""How wake-ups travel: Celery over Redis, JSON only, no result backend."""

import json
from base64 import b64decode
from datetime import timedelta
from typing import Any

from celery import Celery

from app.core.settings import Settings
from workers.schedule import Nightly

QUEUE = "preread"

# Redis queues answer the lowest number first.
URGENT, SOON, WHENEVER = 0, 3, 6

_CONNECT_SECONDS = 2
_ANSWER_SECONDS = 10
_REDELIVERY_SECONDS = 3600
_TASK_SECONDS = 1800


def make_celery(settings: Settings) -> Celery:
    """The Celery application that web sends with and that workers and beat run.

    A task never lasts as long as the broker's redelivery time: `preread` works in short slices, and whatever hangs is
    ended at the hard limit, after which its lease runs out and reconcile takes the document up again.
    """
    celery = Celery("preread", broker=settings.effective_redis_url, include=["workers.tasks"], set_as_current=False)
    celery.conf.update(
        task_default_queue=QUEUE,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_time_limit=_TASK_SECONDS,
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.worker_processes,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "visibility_timeout": _REDELIVERY_SECONDS,
            "socket_connect_timeout": _CONNECT_SECONDS,
            "socket_timeout": _ANSWER_SECONDS,
            # For senders; a worker tries to reach its broker for as long as it lives.
            "max_retries": 1,
            "interval_start": 0,
            "interval_step": 0.1,
            "interval_max": 0.2,
            "priority_steps": [URGENT, SOON, WHENEVER],
            "queue_order_strategy": "priority",
        },
        timezone=settings.timezone,
        beat_schedule_filename=str(settings.state_dir / "run" / "beat"),
        beat_schedule={
            "reconcile": {
                "task": "reconcile",
                "schedule": timedelta(seconds=settings.reconcile_seconds),
                "options": {"priority": URGENT, "expires": settings.reconcile_seconds},
            },
            "nightly": {
                "task": "nightly",
                "schedule": Nightly(settings.nightly_at, settings.timezone),
                "options": {"priority": URGENT},
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
        messages = [
            json.loads(message)
            for priority in (URGENT, SOON, WHENEVER)
            for message in channel.client.lrange(channel._q_for_pri(QUEUE, priority), 0, -1)  # noqa: SLF001
        ]
    return {(message["headers"]["task"], _document_id(message["body"])) for message in messages}


def _document_id(body: str) -> str:
    """The first argument of a task's message; "" where it has none."""
    args = json.loads(b64decode(body))[0]
    return str(args[0]) if args else ""
