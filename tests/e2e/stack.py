"""What every shape of a stack has in common: its settings, its processes, its logs, and the `preread` command."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psutil
from credentials import bearer

from app.core.settings import Settings
from benchmarks.free_port import free_port

PREREAD = str(Path(sys.executable).with_name("preread"))
START_SECONDS = 400.0
STOP_SECONDS = 90.0

_LOG_LINES = 40


def small_settings(folder: Path) -> dict[str, str]:
    """Small enough for two cores and 8 GB; forgotten work is found within seconds; every chunk has two readings.

    In float32 an answer does not depend on what is computed beside it, so that equal answers can be asked for.
    """
    return {
        "PREREAD_DTYPE": "float32",
        "PREREAD_STATE_DIR": str(folder / "state"),
        "PREREAD_PORT": str(free_port()),
        "PREREAD_ENGINE_PORT": str(free_port()),
        "PREREAD_ENGINE_KV_GIB": "1",
        "PREREAD_KV_MEMORY_BYTES": "300000000",
        "PREREAD_MAX_ANSWER_TOKENS": "40",
        "PREREAD_CONDITIONING": "neutral",
        "PREREAD_INTERNAL_SECRET": "secret-of-the-tests",
        "PREREAD_LEASE_SECONDS": "5",
        "PREREAD_RECONCILE_SECONDS": "1",
    }


@dataclass(frozen=True)
class Finished:
    """A command that has ended: exit code and both outputs."""

    code: int
    out: str
    err: str


class Stack:
    """`urls`: of every web process; `ports`: all that it listens on. `left_behind`: what it did not end itself."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        outer = {name: value for name, value in os.environ.items() if not name.startswith("PREREAD_")}
        self.environment = {**outer, **environment}
        self.settings = Settings(
            _env_file=None, **{name.removeprefix("PREREAD_").lower(): value for name, value in environment.items()}
        )
        self.url = self.settings.effective_web_url
        self.urls = [self.url]
        self.engine_url = self.settings.effective_engine_url
        self.ports = [self.settings.port, self.settings.engine_port]
        self._seen: dict[int, psutil.Process] = {}
        self.left_behind: list[psutil.Process] = []

    @property
    def headers(self) -> dict[str, str]:
        """An admin's: of the key that `preread up` has made, or of the one that was made for the tests."""
        made = self.environment.get("PREREAD_API_KEY") or self.settings.operator_key_file.read_text().strip()
        return bearer(made)

    @cached_property
    def user(self) -> tuple[str, str]:
        """Name and password of an admin to sign in as, added when first asked for."""
        name = "admin-of-the-tests"
        added = self.run("user", "create", name, "--role", "admin")
        assert added.code == 0, added.err
        return name, added.out.strip()

    def roots(self) -> list[int]:
        """The process ids of what the tests started themselves."""
        raise NotImplementedError

    def logs(self) -> str:
        """The last lines of every log, for a person who has to find out what went wrong."""
        raise NotImplementedError

    def mend(self) -> None:
        """Start again what a test has killed. Where a supervisor does that, nothing."""

    def processes(self) -> list[psutil.Process]:
        """Everything that runs, remembered for `survivors`."""
        for pid in self.roots():
            with suppress(psutil.NoSuchProcess):
                root = psutil.Process(pid)
                for process in (root, *root.children(recursive=True)):
                    self._seen[process.pid] = process
        return self.survivors()

    def survivors(self) -> list[psutil.Process]:
        """Those of all the processes ever seen that are still running."""
        return [process for process in self._seen.values() if _runs(process)]

    def end_survivors(self) -> None:
        self.left_behind += self.survivors()
        for process in self.left_behind:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def worker(self) -> list[psutil.Process]:
        """A Celery worker that runs, its parent process first; empty while there is none."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                parent = process.parent()
                if _is_worker(process) and not (parent and _is_worker(parent)):
                    return [process, *process.children(recursive=True)]
        return []

    def run(self, *arguments: str, **settings: str) -> Finished:
        """The `preread` command with this stack's settings; `settings` replace some, by their variable's name."""
        done = subprocess.run(
            [PREREAD, *arguments],
            cwd=self.folder,
            env={**self.environment, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)


def tails(files: list[Path]) -> str:
    shown = ["\n".join(file.read_text(errors="replace").splitlines()[-_LOG_LINES:]) for file in files]
    return "\n".join(f"----- {file.name}\n{tail}" for file, tail in zip(files, shown, strict=True))


def _is_worker(process: psutil.Process) -> bool:
    return "workers.celery_app worker" in " ".join(process.cmdline())


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


__all__ = ["PREREAD", "START_SECONDS", "STOP_SECONDS", "Finished", "Stack", "free_port", "small_settings", "tails"]
