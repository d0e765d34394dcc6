"""`preread up` as a user runs it: every real process, on free ports and in a folder of its own."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from waiting import wait_until

from app.cli.processes import dies_with_parent
from app.core.settings import Settings

PREREAD = str(Path(sys.executable).with_name("preread"))
START_SECONDS = 400.0
STOP_SECONDS = 90.0

_LOG_LINES = 40


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


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


class RunningStack:
    """Started by `start`, ended by `stop`, which may be called twice; `left_behind` is what it did not end itself."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        outer = {name: value for name, value in os.environ.items() if not name.startswith("PREREAD_")}
        self._environment = {**outer, **environment}
        self.settings = Settings(
            _env_file=None, **{name.removeprefix("PREREAD_").lower(): value for name, value in environment.items()}
        )
        self.url = self.settings.effective_web_url
        self.engine_url = self.settings.effective_engine_url
        self._output = folder / "up.log"
        self._up: subprocess.Popen[bytes] | None = None
        self._seen: dict[int, psutil.Process] = {}
        self.left_behind: list[psutil.Process] = []

    def start(self) -> None:
        """Returns when every part answers. A start that fails shows what the processes wrote."""
        with self._output.open("wb") as output:
            self._up = subprocess.Popen(
                [PREREAD, "up"],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGTERM),  # noqa: PLW1509  (the one thread that starts processes)
            )
        try:
            with httpx.Client(base_url=self.url, timeout=10, trust_env=False) as web:
                wait_until(lambda: self._is_ready(web), "the stack is ready", START_SECONDS)
        except BaseException as error:
            error.add_note(self.logs())
            self.stop()
            raise
        self.processes()

    def stop(self) -> int:
        """End it as a service manager would; returns its exit code. Whatever survives is ended the hard way."""
        assert self._up is not None
        self.processes()
        if self._up.poll() is None:
            self._up.terminate()
        try:
            return self._up.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._up.kill()
            raise
        finally:
            self.left_behind += self.survivors()
            for process in self.left_behind:
                with suppress(psutil.NoSuchProcess):
                    process.kill()

    def processes(self) -> list[psutil.Process]:
        """`preread up` and all its descendants, remembered for `survivors`."""
        assert self._up is not None
        with suppress(psutil.NoSuchProcess):
            up = psutil.Process(self._up.pid)
            for process in (up, *up.children(recursive=True)):
                self._seen[process.pid] = process
        return self.survivors()

    def survivors(self) -> list[psutil.Process]:
        """Those of all the processes ever seen that are still running."""
        return [process for process in self._seen.values() if _runs(process)]

    def worker(self) -> list[psutil.Process]:
        """The Celery worker, its parent process first; empty while there is none."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                if "workers.celery_app worker" in " ".join(process.cmdline()):
                    return [process, *process.children(recursive=True)]
        return []

    def run(self, *arguments: str, **settings: str) -> Finished:
        """The `preread` command with this stack's settings; `settings` replace some, by their variable's name."""
        done = subprocess.run(
            [PREREAD, *arguments],
            cwd=self.folder,
            env={**self._environment, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def logs(self) -> str:
        """The last lines of every log, for a person who has to find out what went wrong."""
        files = [self._output, *sorted(self.settings.log_dir.glob("*.log"))]
        tails = ["\n".join(file.read_text(errors="replace").splitlines()[-_LOG_LINES:]) for file in files]
        return "\n".join(f"----- {file.name}\n{tail}" for file, tail in zip(files, tails, strict=True))

    def _is_ready(self, web: httpx.Client) -> bool:
        assert self._up is not None
        assert self._up.poll() is None, f"`preread up` ended with code {self._up.returncode} while starting"
        try:
            return web.get("/readyz").is_success
        except httpx.HTTPError:
            return False


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
