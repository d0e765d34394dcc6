"""Quantised weights, and bfloat16, change what the model computes but nothing about fusion: KV stays floating point."""

from collections.abc import Iterator

import pytest
import torch
from fusion_rig import Rig, distance, random_ids, request_for, segments_of
from quantised_models import AVX512, INT8_DTYPE, save_quantised_model
from tiny_models import save_tiny_model

from generator.fusion_request import Segment

QUESTION = random_ids(94, 12)

# In bfloat16 un-rotated keys are rounded once more; with int8 activations the last bit of a key can move a rounding.
FIRST_PLACE = 5e-3
FIRST_PLACE_BOTH = 2e-2


@pytest.fixture(
    scope="module",
    params=[
        ("llama", "bfloat16"),
        ("int8-w8a8", INT8_DTYPE),
        *([("gptq-w4a16", "bfloat16")] if AVX512 else []),
    ],
    ids="-".join,
)
def any_precision(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    kind, dtype = request.param
    state = tmp_path_factory.mktemp(kind)
    save = save_tiny_model if kind == "llama" else save_quantised_model
    rig = Rig.start(save(kind, state / "model"), state, dtype)
    yield rig
    rig.close()


def prompt(preamble: list[int], *chunks: list[int]) -> tuple[list[int], tuple[Segment, ...]]:
    return [*preamble, *(token for chunk in chunks for token in chunk), *QUESTION], segments_of(preamble, *chunks)


def noise_of(rig: Rig, ids: list[int]) -> float:
    """What different batching alone changes, and that a token is computed by itself, as those of an answer are."""
    beside_others = rig.ask([(ids, None), *((ids[:cut], None) for cut in (60, 100, 150))])[0]
    answer = rig.exact(ids, 5)
    differences = [distance(rig.exact(ids), beside_others)]
    for n in range(1, 5):
        at_once = rig.exact([*ids, *answer.token_ids[:n]])
        differences.append(float((answer.logprobs[n].exp() - at_once.logprobs[0].exp()).abs().max()))
    return max(*differences, 1e-6)


def test_with_every_token_fresh_the_difference_is_the_noise_of_batching(
    any_precision: Rig, preamble: list[int]
) -> None:
    assert any_precision.status()["fusion"] is True
    chunks = [random_ids(seed, 120) for seed in (1, 2, 3)]
    any_precision.preread(preamble, *chunks)
    ids, segments = prompt(preamble, *chunks)
    plain = any_precision.exact(ids)
    nested = any_precision.fused(ids, request_for("exact", segments, nested=True))
    reused = any_precision.fused(ids, request_for("none", segments))
    noise, error, loss = noise_of(any_precision, ids), distance(plain, nested), distance(plain, reused)
    print(f"noise of batching {noise:.2e}, nested forward {error:.2e}, plain reuse {loss:.2e}")
    assert nested.report is not None
    assert nested.report.fresh_tokens == segments[-1].end
    assert error <= max(4 * noise, 5e-4)
    assert loss > 4 * error, "plain reuse must differ, or this test proves nothing"


def test_an_opening_chunk_in_first_place_equals_full_prefill(any_precision: Rig, preamble: list[int]) -> None:
    chunk = random_ids(4, 150)
    any_precision.preread(preamble, chunk)
    ids, segments = prompt(preamble, chunk)
    plain, fused = any_precision.exact(ids), any_precision.fused(ids, request_for("none", segments))
    print(f"an opening first chunk reused differs by {distance(plain, fused):.2e}")
    assert fused.report is not None
    assert fused.report.reused_tokens == len(preamble) + len(chunk)
    config = any_precision.llm.llm_engine.model_config
    both = config.quantization == "compressed-tensors" and config.dtype is torch.bfloat16
    assert distance(plain, fused) <= (FIRST_PLACE_BOTH if both else FIRST_PLACE)


@pytest.mark.parametrize("policy", ["head@8", "impact@.1", "hkvd@.1"])
def test_every_policy_runs(any_precision: Rig, preamble: list[int], policy: str) -> None:
    chunks = [random_ids(seed, 100) for seed in (5, 6)]
    any_precision.preread(preamble, *chunks)
    ids, segments = prompt(preamble, *chunks)
    answer = any_precision.fused(ids, request_for(policy, segments))
    assert answer.report is not None
    assert 0 < answer.report.fresh_tokens < segments[-1].end
    assert answer.logprobs.isfinite().all()
