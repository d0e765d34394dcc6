import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from kept_document import World
from waiting import wait_until

from app.cli.processes import ProcessSpec
from app.core.settings import Settings, get_settings


@pytest.fixture
def wait_for() -> Callable[[Callable[[], object]], object]:
    return partial(wait_until, what="the condition holds", seconds=20.0)


@pytest.fixture
def python_process() -> Callable[..., ProcessSpec]:
    def make(name: str, program: str, **options: object) -> ProcessSpec:
        return ProcessSpec(name, [sys.executable, "-c", program], **options)

    return make


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, state_dir=tmp_path / "state", models_dir=tmp_path / "models")


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The process's own settings point at an empty state folder and at ports where nothing listens."""
    monkeypatch.setenv("PREREAD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PREREAD_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("PREREAD_WEB_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PREREAD_ENGINE_PORT", "9")
    get_settings.cache_clear()
    yield tmp_path / "state"
    get_settings.cache_clear()


@pytest.fixture
def world(own_state: Path) -> Iterator[World]:
    world = World()
    yield world
    world.catalog.close()


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """Answers every request with `server.answer`: status, content type, body; or what `server.answers` has by path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self.server.asked.append((self.path, body))
            self.server.sent.append({name.lower(): value for name, value in self.headers.items()})
            status, kind, body = self.server.answers.get(self.path) or self.server.answer
            self.send_response(status)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.sent, server.answers = [], [], {}
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
