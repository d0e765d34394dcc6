"""`preread beat`: Celery's clock, in place of this process."""

import os
import sys

from app.core.settings import get_settings


def beat() -> None:
    """Run the clock that wakes workers. One is enough."""
    settings = get_settings()
    options = ["--loglevel", settings.log_level, "--pidfile="]
    command = [sys.executable, "-m", "celery", "--app", "workers.celery_app", "beat", *options]
    os.execv(command[0], command)  # noqa: S606  (no shell is wanted)
