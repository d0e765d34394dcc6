"""With torch.compile on: captures are whole, and the nested forward runs over any number of tokens."""

from collections.abc import Iterator

import pytest
from fusion_rig import Rig, distance, random_ids, request_for, segments_of
from tiny_models import save_tiny_model
from vllm.config import CompilationMode

from generator.fusion_request import Segment

QUESTION = random_ids(93, 12)
SAME = 2e-5


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    state = tmp_path_factory.mktemp("compiled")
    rig = Rig.start(save_tiny_model("llama", state / "model"), state, enforce_eager=False)
    yield rig
    rig.close()


def prompt(preamble: list[int], *chunks: list[int]) -> tuple[list[int], tuple[Segment, ...]]:
    return [*preamble, *(token for chunk in chunks for token in chunk), *QUESTION], segments_of(preamble, *chunks)


def test_the_model_is_compiled_and_fuses(compiled: Rig) -> None:
    assert compiled.llm.llm_engine.vllm_config.compilation_config.mode is not CompilationMode.NONE
    assert compiled.status()["fusion"] is True


@pytest.mark.parametrize("lengths", [(1,), (40, 90), (130, 5, 260)])
def test_with_every_token_fresh_the_nested_forward_equals_a_plain_run(
    compiled: Rig, preamble: list[int], lengths: tuple[int, ...]
) -> None:
    chunks = [random_ids(50 + length, length) for length in lengths]
    compiled.preread(preamble, *chunks)
    ids, segments = prompt(preamble, *chunks)
    nested = compiled.fused(ids, request_for("exact", segments, nested=True), 4)
    assert nested.report is not None
    assert nested.report.fresh_tokens == segments[-1].end
    assert distance(compiled.exact(ids, 4), nested) <= SAME


def test_an_opening_chunk_captured_under_compile_equals_full_prefill(compiled: Rig, preamble: list[int]) -> None:
    chunk = random_ids(1, 200)
    compiled.preread(preamble, chunk)
    ids, segments = prompt(preamble, chunk)
    fused = compiled.fused(ids, request_for("none", segments), 4)
    assert fused.report is not None
    assert fused.report.reused_tokens == len(preamble) + len(chunk)
    assert distance(compiled.exact(ids, 4), fused) <= SAME


@pytest.mark.parametrize("policy", ["head@8", "impact@.1", "hkvd@.1"])
def test_policies_that_look_into_layers_leave_later_answers_alone(
    compiled: Rig, preamble: list[int], policy: str
) -> None:
    """Their selection forwards end in the middle of the compiled model."""
    chunks = [random_ids(seed, 100) for seed in (2, 3)]
    compiled.preread(preamble, *chunks)
    ids, segments = prompt(preamble, *chunks)
    before = compiled.exact(ids)
    answer = compiled.fused(ids, request_for(policy, segments))
    assert answer.report is not None
    assert 0 < answer.report.fresh_tokens < segments[-1].end
    assert distance(compiled.fused(ids, request_for("exact", segments, nested=True)), before) <= SAME
    assert distance(compiled.exact(ids), before) <= SAME
