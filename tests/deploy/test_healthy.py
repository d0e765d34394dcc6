import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from dockerfile_rules import FOLDER


def run(*arguments: str, **environment: str) -> int:
    command = [sys.executable, "-S", str(FOLDER / "healthy.py"), *arguments]
    return subprocess.run(command, check=False, capture_output=True, env={**os.environ, **environment}).returncode


@pytest.fixture
def url() -> Iterator[str]:
    """A server that is well at `/healthz` alone."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/healthz" else 503)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_server_that_answers_is_healthy_whatever_the_proxy(url) -> None:
    assert run("answers", f"{url}/healthz", http_proxy="http://127.0.0.1:9") == 0


def test_a_server_that_refuses_is_not_healthy(url) -> None:
    assert run("answers", f"{url}/readyz") == 1


def test_nothing_that_listens_is_not_healthy() -> None:
    assert run("answers", "http://127.0.0.1:9/healthz") == 1


def test_a_file_is_fresh_for_as_long_as_it_was_said(tmp_path) -> None:
    schedule = tmp_path / "beat.db"
    schedule.touch()
    assert run("fresh", str(tmp_path / "beat"), "60") == 0
    before = time.time() - 61
    os.utime(schedule, (before, before))
    assert run("fresh", str(tmp_path / "beat"), "60") == 1


def test_no_file_is_not_fresh(tmp_path) -> None:
    assert run("fresh", str(tmp_path / "beat"), "60") == 1


def test_a_check_that_does_not_exist_is_not_healthy() -> None:
    assert run("well") == 2
