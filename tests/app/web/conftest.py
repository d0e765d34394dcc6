import threading

import httpx
import pytest
from scripted_engine import ScriptedEngine
from web_harness import DEADLINE_SECONDS, PAGES, SECRET, Web, wait_until

from app.core.settings import Settings
from app.web.main import create_app
from app.web.server import WebServer


@pytest.fixture(scope="session")
def engine():
    engine = ScriptedEngine()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def shared_web(engine, tmp_path_factory):
    settings = Settings(
        state_dir=tmp_path_factory.mktemp("web"),
        engine_url=engine.url,
        internal_secret=SECRET,
        max_upload_bytes=100_000,
        top_k=2,
    )
    app = create_app(settings)
    server = WebServer(app, settings)
    server.config.port = 0
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive(), "the server has started")
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=DEADLINE_SECONDS) as client:
        web = Web(client, app.state.services, server, engine)
        for name, text in PAGES.items():
            web.add(name, text)
        yield web
    server.should_exit = True
    thread.join(DEADLINE_SECONDS)


@pytest.fixture
def web(shared_web):
    """The shared server, at rest, with an engine that behaves."""
    shared_web.engine.behave()
    shared_web.settle()
    return shared_web
