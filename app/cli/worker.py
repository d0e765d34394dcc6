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
    # Compression computes in many short steps: shared out over cores it is several times slower beside a busy engine.
    environment = {"OMP_NUM_THREADS": "1"} | os.environ
    if settings.log_format == "json":
        environment["TQDM_DISABLE"] = "1"  # a bar is no JSON
    os.execve(command[0], command, environment)  # noqa: S606  (no shell is wanted)
