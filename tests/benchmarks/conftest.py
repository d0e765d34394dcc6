"""One engine with the packaged model for every test here that asks it something."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.settings import Settings
from benchmarks.bench_engine import BenchEngine, bench_engine


@pytest.fixture(scope="package")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BenchEngine]:
    settings = Settings(state_dir=tmp_path_factory.mktemp("state"), max_model_tokens=2048, engine_kv_gib=1)
    with bench_engine(settings, traced=True) as started:
        yield started


@pytest.fixture
def shared_engine(engine: BenchEngine, monkeypatch: pytest.MonkeyPatch) -> BenchEngine:
    """Commands run in the test find the shared engine in place of one of their own."""

    @contextmanager
    def found(_settings: Settings, *, traced: bool = False) -> Iterator[BenchEngine]:
        yield engine

    for command in ("quality", "gate", "ttft", "preread", "interference", "load.command"):
        monkeypatch.setattr(f"benchmarks.{command}.bench_engine", found, raising=False)
    return engine


@pytest.fixture
def musique(tmp_path: Path) -> Path:
    """Two questions of our own in the form of the MuSiQue set."""
    texts = {
        "red": "The barn on the hill is red. It was painted by Ada in the spring of that year. Nobody helped her.",
        "Oslo": "Bert moved to Oslo when he was nine. He lives there with two cats. He sells maps for a living.",
        "tea": "Cora drinks tea every morning. She never liked coffee. Her kettle is older than her house.",
    }
    contexts = [{"title": "", "text": text} for text in texts.values()]
    rows = [
        {"question": "What colour is the barn on the hill?", "answers": ["red"], "ctxs": contexts},
        {"question": "Where does Bert live?", "answers": ["Oslo"], "ctxs": contexts},
    ]
    folder = tmp_path / "musique"
    folder.mkdir()
    (folder / "musique_s.json").write_text(json.dumps(rows))
    (folder / "answerable_ids.txt").write_text("0\n1\n")
    return folder
