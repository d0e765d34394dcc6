"""With every token fresh, a fused answer is a plain vLLM answer; whole next-token distributions are compared."""

from dataclasses import replace

import torch
from fusion_rig import Rig, distance, random_ids, request_for, segments_of

from app.core.ids import new_id
from kernels.rope import rotate_keys, unrotate_keys

SEPARATOR = [7, 8, 9]
QUESTION = random_ids(99, 20)


def prompt_of(preamble: list[int], *chunks: list[int]) -> list[int]:
    ids = list(preamble)
    for number, chunk in enumerate(chunks):
        ids += (SEPARATOR if number else []) + chunk
    return ids + QUESTION


def noise_of(rig: Rig, ids: list[int]) -> float:
    """What different batching alone changes: the prompt served alone and beside others."""
    others = [(random_ids(seed, len(ids) - seed), None) for seed in (1, 2, 3)]
    alone = rig.exact(ids)
    return max(distance(alone, rig.ask([(ids, None), *others])[0]), 1e-6)


def test_with_every_token_fresh_the_nested_forward_equals_a_plain_run(any_rig: Rig, preamble: list[int]) -> None:
    chunks = [random_ids(seed, 150) for seed in (10, 11, 12)]
    any_rig.preread(preamble, *chunks)
    ids = prompt_of(preamble, *chunks)
    segments = segments_of(preamble, *chunks, separator=SEPARATOR)
    plain = any_rig.exact(ids)
    fused = any_rig.fused(ids, request_for("exact", segments, nested=True))
    reused = any_rig.fused(ids, request_for("none", segments))
    assert fused.report is not None
    assert fused.report.fresh_tokens == segments[-1].end
    noise, error, loss = noise_of(any_rig, ids), distance(plain, fused), distance(plain, reused)
    print(f"noise of batching {noise:.2e}, nested forward {error:.2e}, plain reuse {loss:.2e}")
    assert error <= max(4 * noise, 2e-5)
    assert loss > 10 * error, "plain reuse must differ, or this test proves nothing"


def test_an_opening_chunk_in_first_place_equals_full_prefill(any_rig: Rig, preamble: list[int]) -> None:
    chunk = random_ids(20, 300)
    any_rig.preread(preamble, chunk)
    ids = prompt_of(preamble, chunk)
    fused = any_rig.fused(ids, request_for("none", segments_of(preamble, chunk)), max_tokens=8)
    plain = any_rig.exact(ids, max_tokens=8)
    assert fused.report is not None
    assert fused.report.reused_tokens == len(preamble) + len(chunk)
    assert fused.token_ids == plain.token_ids
    assert distance(plain, fused) <= 2e-5


def test_missing_chunks_behind_an_exact_one_come_out_as_full_prefill_has_them(
    any_rig: Rig, preamble: list[int]
) -> None:
    first, *others = (random_ids(seed, 80) for seed in (30, 31, 32))
    any_rig.preread(preamble, first)
    ids = prompt_of(preamble, first, *others)
    request = request_for("none", segments_of(preamble, first, *others, separator=SEPARATOR))
    nested = replace(request, request_id=new_id("ask"), policy="exact", nested=True)
    plain = any_rig.exact(ids)
    for each in (request, nested):
        assert distance(plain, any_rig.fused(ids, each)) <= 2e-5


def test_keys_round_trip_at_every_position_up_to_the_models_maximum(any_rig: Rig) -> None:
    for layer in any_rig.worker_side.layers:
        positions = torch.arange(len(layer.rotary.table))
        assert len(positions) >= any_rig.status()["max_model_tokens"]
        cos, sin = layer.rotary.cos_sin(positions)
        keys = torch.randn(len(positions), *layer.shape, generator=torch.Generator().manual_seed(0))
        options = {"neox": layer.rotary.neox, "rotary_dim": layer.rotary.rotary_dim}
        turned = rotate_keys(keys, cos, sin, **options)
        assert float((unrotate_keys(turned, cos, sin, **options) - keys).abs().max()) < 1e-5
