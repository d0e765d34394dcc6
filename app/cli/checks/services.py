"""The running parts. In embedded mode, one that is not running because Preread is not is a warning, not a failure."""

from collections.abc import Iterator
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from app.cli.checks.finding import Finding, fail, failed_by, ok, warn
from app.cli.checks.redis_url import without_password
from app.cli.client import ApiClient
from app.cli.errors import NotRunning, Refused
from app.cli.redis_server import redis_answers
from app.cli.state_lock import holder_of
from app.core.catalog import Catalog
from app.core.errors import PrereadError
from app.core.settings import Settings
from generator.engine import EngineClient, EngineStatus
from generator.engines import require_same_model
from generator.errors import EnginesDiffer, EngineUnavailable
from workers.broker import make_celery
from workers.wake import Waker

_START = "Start Preread: preread up"


def check_database(settings: Settings) -> Finding:
    name = "database"
    if not settings.database_url and not (settings.state_dir / "preread.db").exists():
        return ok(name, "not made yet; the first start makes it")
    try:
        current = Catalog(settings.effective_database_url).is_current()
    except PrereadError as error:
        return failed_by(name, error)
    except SQLAlchemyError as error:
        return fail(name, f"The database does not answer: {error}", "Check PREREAD_DATABASE_URL.")
    if not current:
        return fail(name, "The database is of another version of Preread.", "Starting Preread brings it up to date.")
    return ok(name, "up to date")


def check_redis(settings: Settings) -> Finding:
    name = "redis"
    if settings.redis_url:
        return _check_redis_server(name, settings.redis_url)
    if redis_answers(settings.redis_socket):
        return ok(name, f"answers on {settings.redis_socket}")
    return _not_running(settings, name, "The private Redis does not answer.")


def check_engines(settings: Settings) -> Iterator[Finding]:
    """The one that answers questions, then every other, which must run the same model."""
    answering, *others = settings.every_engine_url
    first = _status_of(answering)
    yield _check_answering(settings, first)
    for url in others:
        yield _check_other(f"engine {without_password(url)}", _status_of(url), first)


def _status_of(url: str) -> EngineStatus | PrereadError:
    client = EngineClient(url)
    try:
        return client.status()
    except PrereadError as error:
        return error
    finally:
        client.close()


def _check_other(name: str, status: EngineStatus | PrereadError, answering: EngineStatus | PrereadError) -> Finding:
    if isinstance(status, PrereadError):
        return fail(
            name,
            f"{status.message} Deletions are not finished while one engine does not answer.",
            "Start it, or take its address out of PREREAD_ENGINE_URLS if there is no such engine any more.",
        )
    if not isinstance(answering, PrereadError):
        try:
            require_same_model(status, answering)
        except EnginesDiffer as error:
            return failed_by(name, error)
    return ok(name, f"{status.model}, fusion {'on' if status.fusion else 'off'}")


def _check_answering(settings: Settings, status: EngineStatus | PrereadError) -> Finding:
    name = "engine"
    if isinstance(status, EngineUnavailable) and not settings.engine_url:
        return _not_running(settings, name, status.message)
    if isinstance(status, PrereadError):
        return failed_by(name, status)
    if not status.fusion:
        return warn(
            name,
            f"{status.model} is served exactly; chunk KV is not fused: {status.fusion_reason}",
            "Answers are right but not sooner. Use another model, or another dtype, to change that.",
        )
    return ok(name, f"{status.model}, fusion on")


def check_worker(settings: Settings) -> Finding:
    name = "worker"
    answering = Waker(make_celery(settings)).workers()
    if answering:
        return ok(name, "answers")
    if settings.redis_url:
        return fail(name, "No worker answers.", "Start one: preread worker")
    return _not_running(settings, name, "No worker answers.")


def check_web(settings: Settings) -> Finding:
    try:
        with ApiClient.from_settings(settings) as client:
            client.readiness()
    except NotRunning as error:
        return _not_running(settings, "web", error.message)
    except Refused as error:
        return failed_by("web", error)
    return ok("web", settings.effective_web_url)


def _check_redis_server(name: str, url: str) -> Finding:
    client = Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
    try:
        client.ping()
    except RedisError as error:
        return fail(name, f"{without_password(url)} does not answer: {error}", "Is Redis running there?")
    finally:
        client.close()
    return ok(name, f"answers at {without_password(url)}")


def _not_running(settings: Settings, name: str, message: str) -> Finding:
    if holder_of(settings.state_dir):
        log = Path(settings.log_dir) / f"{name}.log"
        return fail(name, message, f"Preread is running, but this part of it is not ready; see {log}.")
    return warn(name, message, _START)
