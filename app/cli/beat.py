"""`preread beat`: Celery's clock, in place of this process."""

import os
import sys


def beat() -> None:
    """Run the clock that wakes workers. One is enough."""
    options = ["--loglevel", "INFO", "--pidfile="]
    command = [sys.executable, "-m", "celery", "--app", "workers.celery_app", "beat", *options]
    os.execv(command[0], command)  # noqa: S606  (no shell is wanted)
