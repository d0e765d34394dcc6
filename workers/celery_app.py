"""The Celery application of this process: `celery -A workers.celery_app worker|beat`."""

from typing import Any

from celery.signals import worker_ready

from app.core.settings import get_settings
from workers.broker import URGENT, make_celery

_settings = get_settings()
(_settings.state_dir / "run").mkdir(parents=True, exist_ok=True)  # beat keeps its schedule there
app = make_celery(_settings)
app.set_current()


@worker_ready.connect
def _repair_at_start(**_: Any) -> None:
    app.send_task("reconcile", priority=URGENT)
