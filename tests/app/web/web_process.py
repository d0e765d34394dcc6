"""`preread web` as a process of its own, on a free port, with the scripted engine of the tests."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from credentials import admin_headers
from web_harness import DEADLINE_SECONDS, wait_until

from app.cli.processes import dies_with_parent
from app.core.catalog import Catalog
from app.core.settings import Settings

START_SECONDS = 120


class WebProcess:
    """`client` speaks to it."""

    def __init__(self, process: subprocess.Popen[bytes], client: httpx.Client) -> None:
        self._process = process
        self.client = client

    def told_to_stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def ended(self, seconds: float) -> int:
        """Its exit code. Raises TimeoutExpired where it does not end in this time."""
        return self._process.wait(seconds)


@contextmanager
def web_process(folder: Path, **settings: object) -> Iterator[WebProcess]:
    """Started with these settings, ready, and spoken to as its admin; killed in the end. Its log is in `folder`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PREREAD_")}
    own = {f"PREREAD_{name.upper()}": str(value) for name, value in settings.items()}
    log = folder / "web.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app.cli.main", "web"],
            cwd=folder,
            env={**outer, **own, "PREREAD_PORT": str(port), "OMP_NUM_THREADS": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=dies_with_parent(signal.SIGKILL),  # noqa: PLW1509  (it makes one system call)
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=DEADLINE_SECONDS) as client:
            wait_until(lambda: _answers(process, client, log), "web has started", seconds=START_SECONDS)
            client.headers.update(_admin(settings))
            yield WebProcess(process, client)
    finally:
        process.kill()
        process.wait()


def _admin(settings: dict[str, object]) -> dict[str, str]:
    known = Settings(_env_file=None, **settings)
    catalog = Catalog(known.effective_database_url)
    try:
        return admin_headers(catalog, known.tenant)
    finally:
        catalog.close()


def _answers(process: subprocess.Popen[bytes], client: httpx.Client, log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        return client.get("/healthz").is_success
    except httpx.HTTPError:
        return False
