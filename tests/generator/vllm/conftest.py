"""One engine lives in a process at a time: a test module uses `any_rig` or `rig`, never both."""

from collections.abc import Iterator

import pytest
from fusion_rig import Rig
from tiny_models import MODELS, save_tiny_model


@pytest.fixture(scope="module", params=sorted(MODELS))
def any_rig(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """An engine in float32 for each tested model shape in turn."""
    state = tmp_path_factory.mktemp(request.param)
    rig = Rig.start(save_tiny_model(request.param, state / "model"), state)
    yield rig
    rig.close()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """An engine in float32 with a tiny Llama, prefilling at most 128 tokens a step."""
    state = tmp_path_factory.mktemp("llama")
    engine = Rig.start(save_tiny_model("llama", state / "model"), state, max_num_batched_tokens=128, block_size=32)
    yield engine
    engine.close()


@pytest.fixture
def preamble() -> list[int]:
    return list(range(10, 33))
