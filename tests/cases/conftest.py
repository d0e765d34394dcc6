from collections.abc import Iterator

import pytest
from scripted_engine import ScriptedEngine
from served import Served, served


@pytest.fixture(scope="session")
def engine() -> Iterator[ScriptedEngine]:
    engine = ScriptedEngine()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def library(engine: ScriptedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for a module's tests: they leave others' documents alone."""
    with served(tmp_path_factory.mktemp("library"), engine, top_k=3) as service:
        yield service


@pytest.fixture
def empty(engine: ScriptedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service without documents, which tells many sources."""
    folder = tmp_path_factory.mktemp("empty")
    with served(folder, engine, chunk_tokens=48, top_k=20, max_upload_bytes=1_000_000) as service:
        yield service
