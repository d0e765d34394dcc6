"""`preread worker`: Celery's worker, in place of this process."""

import os
import sys

from app.core.settings import get_settings


def worker() -> None:
    """Run a worker: reads documents in and pre-reads them."""
    from workers.read_only import require_writing

    settings = get_settings()
    require_writing(settings)
    command = [
        sys.executable, "-m", "celery", "--app", "workers.celery_app", "worker",
        "--hostname", f"{settings.worker_name}@%h", "--pool", "prefork",
        "--concurrency", str(settings.worker_processes), "--loglevel", settings.log_level,
    ]  # fmt: skip
    os.execv(command[0], command)  # noqa: S606  (no shell is wanted)
