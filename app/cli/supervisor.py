"""Keeps a set of processes running: starts them in order, restarts what crashes, and leaves nothing behind."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Self

from app.cli.errors import ProcessFailed
from app.cli.guardian import Guardian
from app.cli.processes import ManagedProcess, ProcessSpec
from app.cli.restarts import Restarts

GRACE_SECONDS = 20.0

_TICK_SECONDS = 0.1
_REMINDER_SECONDS = 10.0


@dataclass(frozen=True)
class Stage:
    """Processes that start side by side once every earlier stage is ready. `prepare` runs just before."""

    processes: Sequence[ProcessSpec]
    prepare: Callable[[], None] | None = None


@dataclass
class _Child:
    spec: ProcessSpec
    restarts: Restarts
    process: ManagedProcess | None = None
    ready: bool = False
    start_at: float = 0.0


class Supervisor:
    """Runs stages of processes until told to stop. Belongs to one thread: the kernel ties a child's life to it.

    with Supervisor(stages, log_dir=…, say=print) as supervisor:
        supervisor.start()
        supervisor.watch()
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        log_dir: Path,
        say: Callable[[str], None],
        grace_seconds: float = GRACE_SECONDS,
        restarts: Callable[[], Restarts] = Restarts,
    ) -> None:
        self._stages = stages
        self._log_dir = log_dir
        self._say = say
        self._grace_seconds = grace_seconds
        self._restarts = restarts
        self._children: list[list[_Child]] = []
        self._stop = threading.Event()
        self._guardian = Guardian()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop_on_signals(self) -> None:
        """SIGINT, SIGTERM and SIGHUP request a stop."""

        def request(_number: int, _frame: FrameType | None) -> None:
            self.request_stop()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, request)

    def request_stop(self) -> None:
        self._stop.set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def start(self) -> None:
        """Start every stage and wait until all is ready, or a stop is requested.

        Raises ProcessFailed when a process dies or its deadline passes before it was ready.
        """
        for stage in self._stages:
            if self.stopping:
                return
            if stage.prepare:
                stage.prepare()
            children = [_Child(spec, self._restarts()) for spec in stage.processes]
            self._children.append(children)
            for child in children:
                self._launch(child)
            self._wait_until_ready(children)

    def watch(self) -> None:
        """Restart what crashes until a stop is requested. Raises ProcessFailed when one dies again and again."""
        while not self._stop.wait(_TICK_SECONDS):
            for stage in self._children:
                for child in stage:
                    self._tend(child)

    def stop(self) -> None:
        """End every process, the last started first, and whatever they started."""
        self._stop.set()
        for stage in reversed(self._children):
            running = [child.process for child in stage if child.process]
            for process in running:
                process.terminate()
            deadline = time.monotonic() + self._grace_seconds
            for process in running:
                if not process.wait(deadline):
                    self._say(f"{process.spec.name} did not stop in {self._grace_seconds:.0f} s; ending it")
                process.kill()
                self._guardian.forget(process.group)
        self._children.clear()
        self._guardian.close()

    def _launch(self, child: _Child) -> None:
        child.process = ManagedProcess(child.spec, self._log_dir)
        child.ready = False
        self._guardian.watch(child.process.group)

    def _wait_until_ready(self, children: Sequence[_Child]) -> None:
        begun = time.monotonic()
        reminder = begun + _REMINDER_SECONDS
        while waiting := [child for child in children if not child.ready]:
            for child in waiting:
                self._check_start(child, time.monotonic() - begun)
            if self._stop.wait(_TICK_SECONDS):
                return
            if time.monotonic() > reminder:
                names = " and ".join(child.spec.name for child in waiting if not child.ready)
                if names:
                    self._say(f"{names} still starting ({time.monotonic() - begun:.0f} s)")
                reminder += _REMINDER_SECONDS

    def _check_start(self, child: _Child, waited: float) -> None:
        assert child.process is not None
        code = child.process.exit_code()
        if code is not None:
            raise _failed(child.process, f"{child.spec.name} {_ended(code)} while starting.")
        if child.spec.is_ready():
            child.ready = True
            self._say(f"{child.spec.name} ready ({waited:.1f} s)")
        elif waited > child.spec.ready_seconds:
            raise _failed(child.process, f"{child.spec.name} was not ready within {child.spec.ready_seconds:.0f} s.")

    def _tend(self, child: _Child) -> None:
        if child.process is None:
            if time.monotonic() >= child.start_at:
                self._launch(child)
            return
        code = child.process.exit_code()
        if code is None:
            if not child.ready and child.spec.is_ready():
                child.ready = True
                self._say(f"{child.spec.name} ready again")
            return
        child.process.kill()
        self._guardian.forget(child.process.group)
        pause = child.restarts.pause_after_death(time.monotonic(), was_ready=child.ready)
        if pause is None:
            raise _failed(child.process, f"{child.spec.name} keeps dying: it {_ended(code)}.")
        self._say(f"{child.spec.name} {_ended(code)}; starting it again in {pause:.1f} s")
        child.process = None
        child.start_at = time.monotonic() + pause


def _ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"


def _failed(process: ManagedProcess, message: str) -> ProcessFailed:
    return ProcessFailed(f"{message} Its last lines:\n{process.last_lines()}", f"The whole log: {process.log}")
