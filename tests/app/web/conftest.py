import pytest
from scripted_engine import ScriptedEngine
from served_web import web_served
from web_harness import DEADLINE_SECONDS, PAGES, SECRET, Web

from app.core.settings import Settings
from app.web.main import create_app


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
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        web = Web(client, app.state.services, server, engine)
        for name, text in PAGES.items():
            web.add(name, text)
        yield web


@pytest.fixture
def web(shared_web):
    """The shared server, at rest, with an engine that behaves."""
    shared_web.engine.behave()
    shared_web.settle()
    return shared_web
