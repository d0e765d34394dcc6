"""Web as a process of its own over a small library, for measuring it from outside."""

import asyncio
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from app.cli.processes import ManagedProcess, ProcessSpec
from app.cli.stack import answers, preread_command
from app.core.access import Role
from app.core.catalog import Catalog, NewKey
from app.core.errors import SetupError
from app.core.settings import Settings
from app.web.access.audit import Audit
from app.web.access.key_making import KeyMaking
from app.web.services import open_services
from benchmarks.free_port import free_port
from benchmarks.load.stub import HOLD_PATH, RELEASE_PATH, SEEN_PATH
from benchmarks.reading_services import worker_context
from kvstore.codecs.codecs import Codecs
from workers.adding import Adding
from workers.ingest import ingest
from workers.preread import preread

_START_SECONDS = 120.0
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.02
_QUIET = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True)
class MeasuredWeb:
    """`headers` name whoever asks."""

    url: str
    process: psutil.Process
    headers: Mapping[str, str]

    @property
    def held_bytes(self) -> int:
        """Memory that it holds now."""
        return int(self.process.memory_info().rss)


@dataclass(frozen=True)
class StubEngine:
    """The engine of `benchmarks.load.stub`, in a process of its own."""

    url: str
    client: httpx.Client

    def hold(self) -> None:
        """From now on it says one word and no more."""
        self.client.post(HOLD_PATH).raise_for_status()

    def release(self) -> None:
        self.client.post(RELEASE_PATH).raise_for_status()

    def wait_until_held(self, enough: Callable[[int], bool], seconds: float) -> None:
        """Until `enough` of the streams it holds, or so long. Blocking."""
        deadline = time.monotonic() + seconds
        while not enough(self.held) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    @property
    def held(self) -> int:
        """Streams that it has said one word to."""
        return int(self._seen()["held"])

    @property
    def seconds(self) -> dict[str, float]:
        """That each request took it, by its id."""
        found: dict[str, float] = self._seen()["seconds"]
        return found

    def _seen(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(SEEN_PATH).raise_for_status().json()
        return found


def own_settings(settings: Settings, state: Path, **more: object) -> Settings:
    """The same service with a state of its own: no store, queue or index that anybody else uses."""
    own = {
        "state_dir": state, "kv_dir": state / "kv", "staging_dir": state / "staging", "database_url": "",
        "redis_url": "", "qdrant_url": "", "index_url": "", "kv_redis_url": "", "kv_object_url": "",
        "host": "127.0.0.1", "port": free_port(),
    }  # fmt: skip
    return settings.model_copy(update={**own, **more})


def fill(settings: Settings, folder: Path, *, pre_read: bool) -> int:
    """Read the folder's pages into the library, and have the engine pre-read them; how many there are."""
    services = open_services(settings)
    context = worker_context(services, Codecs.beside(settings.profiles_dir))
    adding = Adding(services.catalog, services.files, services.waker, settings.tenant, settings.max_upload_bytes)
    pages = sorted(folder.rglob("*.md"))
    for path in pages:
        with path.open("rb") as page:
            document, _ = adding.add(path.name, page)
        ingest(document.id, context)
        while pre_read and preread(document.id, context):
            pass
    asyncio.run(services.close())
    return len(pages)


@contextmanager
def measured_web(settings: Settings) -> Iterator[MeasuredWeb]:
    """`preread web` with these settings. Raises SetupError with the end of its log where it does not start."""
    names = (
        "state_dir", "kv_dir", "staging_dir", "database_url", "redis_url", "qdrant_url", "index_url", "kv_redis_url",
        "kv_object_url", "host", "port", "engine_url", "answers_at_once", "answers_waiting",
    )  # fmt: skip
    environment = {f"PREREAD_{name.upper()}": str(getattr(settings, name)) for name in names}
    environment["PREREAD_INTERNAL_SECRET"] = secrets.token_hex(32)
    url = settings.effective_web_url
    with _process("web", preread_command("web"), environment, f"{url}/healthz", settings.log_dir) as process:
        yield MeasuredWeb(url, process, {"Authorization": f"Bearer {_key(settings)}"})


@contextmanager
def stub_engine(log_dir: Path) -> Iterator[StubEngine]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "benchmarks.load.stub", str(port)]
    with (
        _process("stub", command, {}, f"{url}/preread/status", log_dir),
        httpx.Client(base_url=url, trust_env=False) as client,
    ):
        yield StubEngine(url, client)


def _key(settings: Settings) -> str:
    """An API key for asking, in the library's own database."""
    catalog = Catalog(settings.effective_database_url)
    try:
        audit = Audit.of_command_line(catalog, settings.tenant, "bench")
        return KeyMaking(catalog, audit).make(NewKey(settings.tenant, "bench", Role.READER))[1]
    finally:
        catalog.close()


@contextmanager
def _process(
    name: str, command: list[str], environment: Mapping[str, str], url: str, log_dir: Path
) -> Iterator[psutil.Process]:
    running = ManagedProcess(ProcessSpec(name, command, {**_QUIET, **environment}), log_dir)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not answers(url):
            if running.exit_code() is not None or time.monotonic() > deadline:
                raise SetupError(f"{name} did not start. The end of its log:\n{running.last_lines()}")
            time.sleep(_POLL_SECONDS)
        yield psutil.Process(running.group)
        running.terminate()
        running.wait(time.monotonic() + _STOP_SECONDS)
    finally:
        running.kill()
