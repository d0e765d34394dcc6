"""One child process: its own session, its own log file, and no way to outlive its parent."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

_LOG_BYTES = 10_000_000
_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def always_ready() -> bool:
    return True


@dataclass(frozen=True)
class ProcessSpec:
    """What to run. `is_ready` is asked again and again after the start; it must return within a few seconds.

    `environment` is added to the parent's.
    """

    name: str
    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[], bool] = always_ready
    ready_seconds: float = 60.0


class ManagedProcess:
    """A running `ProcessSpec`. Its output is appended to `<log_dir>/<name>.log`."""

    def __init__(self, spec: ProcessSpec, log_dir: Path) -> None:
        self.spec = spec
        self.log = log_dir / f"{spec.name}.log"
        self._relatives: list[psutil.Process] = []
        _rotate(self.log)
        with self.log.open("ab") as output:
            self._popen = subprocess.Popen(
                spec.command,
                env={**os.environ, **spec.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGKILL),  # noqa: PLW1509  (one thread starts processes)
            )

    @property
    def group(self) -> int:
        """Process id of the leader, which is also the id of its group and session."""
        return self._popen.pid

    def exit_code(self) -> int | None:
        return self._popen.poll()

    def terminate(self) -> None:
        """Ask the leader to end. Its descendants are left to it: Celery's children would drop their task."""
        if self._popen.poll() is None:
            self._relatives = _descendants(self.group)
            self._popen.terminate()

    def kill(self) -> None:
        """End the leader and everything it started, now; return when the leader is gone."""
        relatives = [*self._relatives, *_descendants(self.group)]
        with suppress(ProcessLookupError):  # the whole group has ended by itself
            os.killpg(self.group, signal.SIGKILL)
        for relative in relatives:
            with suppress(psutil.NoSuchProcess):
                relative.kill()
        self._popen.wait()
        psutil.wait_procs(relatives, timeout=5)

    def wait(self, deadline: float) -> bool:
        """Whether the leader has ended before the monotonic time `deadline`."""
        try:
            self._popen.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        return True

    def last_lines(self, count: int = 15) -> str:
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - 20_000))
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-count:])


def dies_with_parent(signal_number: signal.Signals) -> Callable[[], None]:
    """For a child between fork and exec: the kernel sends it `signal_number` when its parent ends, however it ends."""
    parent = os.getpid()

    def arrange() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal_number))
        if os.getppid() != parent:
            os._exit(1)

    return arrange


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _rotate(log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
