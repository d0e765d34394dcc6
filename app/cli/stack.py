"""Embedded mode as stages for the supervisor: redis → database → engine beside web → worker → beat."""

import secrets
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import httpx

from app.cli.first_run import provide_access
from app.cli.memory import available_bytes, judge_memory, memory_need
from app.cli.ports import require_port
from app.cli.processes import ProcessSpec
from app.cli.redis_server import redis_answers, redis_command
from app.cli.supervisor import Stage
from app.core.catalog import Catalog
from app.core.settings import Settings
from workers.broker import make_celery
from workers.wake import Waker

_WEB_SECONDS = 120.0
_WORKER_SECONDS = 120.0
_PROBE_SECONDS = 2.0


def preread_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "app.cli.main", *arguments]


def require_room(settings: Settings, model: Path) -> str:
    """Check ports and memory before anything starts; the answer is a warning or empty.

    Raises PortTaken or MemoryShort.
    """
    require_port(settings.host, settings.port, "PREREAD_PORT")
    if settings.engine_url:
        return ""
    require_port(settings.engine_host, settings.engine_port, "PREREAD_ENGINE_PORT")
    return judge_memory(memory_need(settings, model), available_bytes())


def embedded_stages(settings: Settings) -> Sequence[Stage]:
    """Services that the settings place elsewhere (an engine's or a Redis's URL) are not started."""
    secret = settings.internal_secret.get_secret_value() or secrets.token_hex(32)
    environment = {"PREREAD_INTERNAL_SECRET": secret, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    waker = Waker(make_celery(settings))

    redis = ProcessSpec(
        "redis", redis_command(settings.redis_socket), is_ready=lambda: redis_answers(settings.redis_socket)
    )
    engine = ProcessSpec(
        "engine",
        preread_command("engine"),
        is_ready=lambda: answers(f"{settings.effective_engine_url}/preread/status"),
        ready_seconds=settings.engine_start_seconds,
    )
    web = ProcessSpec(
        "web",
        preread_command("web"),
        environment,
        is_ready=lambda: answers(f"{settings.effective_web_url}/healthz"),
        ready_seconds=_WEB_SECONDS,
    )
    worker = ProcessSpec(
        "worker",
        preread_command("worker"),
        environment,
        is_ready=lambda: waker.workers() > 0,
        ready_seconds=_WORKER_SECONDS,
    )
    beat = ProcessSpec("beat", preread_command("beat"), environment)

    return (
        Stage(() if settings.redis_url else (redis,)),
        Stage((web,) if settings.engine_url else (engine, web), prepare=lambda: migrate(settings)),
        Stage((worker,)),
        Stage((beat,)),
    )


def migrate(settings: Settings) -> None:
    """Make the database, or bring it up to date, and see that somebody may use it."""
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    catalog = Catalog(settings.effective_database_url)
    try:
        catalog.migrate()
        provide_access(settings, catalog)
    finally:
        catalog.close()


@cache
def _probe() -> httpx.Client:
    # One for all: making a client reads every certificate authority, 40 ms of work that a start cannot spare each tick.
    # Proxies of the environment are not asked: every address here is ours.
    return httpx.Client(timeout=_PROBE_SECONDS, trust_env=False)


def answers(url: str) -> bool:
    """Whether a GET there succeeds."""
    try:
        return _probe().get(url).is_success
    except httpx.HTTPError:
        return False
