"""`preread up` as a user runs it: every real process, on free ports and in a folder of its own."""

import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import httpx
from stack import PREREAD, START_SECONDS, STOP_SECONDS, Stack, free_port, small_settings, tails
from waiting import wait_until

from app.cli.processes import dies_with_parent


class RunningStack(Stack):
    """Started by `start`, ended by `stop`, which may be called twice; `left_behind` is what it did not end itself."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        super().__init__(folder, environment)
        self._output = folder / "up.log"
        self._up: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when every part answers. A start that fails shows what the processes wrote."""
        with self._output.open("wb") as output:
            self._up = subprocess.Popen(
                [PREREAD, "up"],
                cwd=self.folder,
                env=self.environment,
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
            self.end_survivors()

    def roots(self) -> list[int]:
        assert self._up is not None
        return [self._up.pid]

    def logs(self) -> str:
        return tails([self._output, *sorted(self.settings.log_dir.glob("*.log"))])

    def _is_ready(self, web: httpx.Client) -> bool:
        assert self._up is not None
        assert self._up.poll() is None, f"`preread up` ended with code {self._up.returncode} while starting"
        try:
            return web.get("/readyz").is_success
        except httpx.HTTPError:
            return False


__all__ = ["RunningStack", "free_port", "small_settings"]
