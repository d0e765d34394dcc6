"""Fresh tokens, scattered over the context, see what stands before them and nothing after."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from fusion_rig import TENANT, Rig, random_ids, segments_of
from torch import Tensor

from app.core.ids import new_id
from generator.fusion_request import FusionRequest
from generator.identity import chunk_identity
from generator.vllm.recompute import Job
from generator.vllm.selftest import dense_attention
from kernels.rope import rotate_keys
from kvstore.codecs.codecs import LOSSLESS
from kvstore.key import Reading
from kvstore.store import Hit

QUESTION = random_ids(97, 10)


def fresh_rows(rig: Rig, monkeypatch: pytest.MonkeyPatch, ids: list[int], request: FusionRequest) -> list[Tensor]:
    """Keys and values that the recompute forward writes, per layer, in position order."""
    written: list[Tensor] = []
    recompute = rig.worker_side.fuser.recompute

    def watching(jobs: Sequence[Job], *around: Any) -> None:
        with monkeypatch.context() as patch:
            for layer in rig.worker_side.layers:
                write = layer.impl.do_kv_cache_update

                def keep(attention: object, k: Tensor, v: Tensor, cache: Tensor, slots: Tensor, write=write) -> None:
                    written.extend((k.clone(), v.clone()))
                    write(attention, k, v, cache, slots)

                patch.setattr(layer.impl, "do_kv_cache_update", keep)
            recompute(jobs, *around)

    monkeypatch.setattr(rig.worker_side.fuser, "recompute", watching)
    rig.fused(ids, request)
    monkeypatch.setattr(rig.worker_side.fuser, "recompute", recompute)
    return written


def test_fresh_tokens_do_not_depend_on_later_chunks(
    rig: Rig, preamble: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, last, other = (random_ids(seed, 64) for seed in (50, 51, 52, 53))
    rig.preread(preamble, first, second, last, other)

    def rows(*chunks: list[int]) -> list[Tensor]:
        segments = segments_of(preamble, *chunks)
        ids = [*preamble, *(token for chunk in chunks for token in chunk), *QUESTION]
        request = FusionRequest(new_id("ask"), TENANT, "head@8", segments)
        return fresh_rows(rig, monkeypatch, ids, request)

    one, two = rows(first, second, last), rows(first, second, other)
    assert len(one) == len(two) == 2 * len(rig.worker_side.layers)
    assert all(torch.equal(a[:8], b[:8]) for a, b in zip(one, two, strict=True))
    assert not torch.equal(one[2][8:], two[2][8:])


def test_scattered_fresh_tokens_equal_a_dense_float32_reference(
    rig: Rig, preamble: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layer 0's attention output of every fresh token, against dense causal attention over the same mixture."""
    chunks = [random_ids(seed, 64) for seed in (54, 55, 56)]
    rig.preread(preamble, *chunks)
    segments = segments_of(preamble, *chunks)
    ids = [*preamble, *(token for chunk in chunks for token in chunk), *QUESTION]
    layer = rig.worker_side.layers[0]
    seen: dict[str, Tensor] = {}
    forward, recompute = layer.impl.forward, rig.worker_side.fuser.recompute

    def watching(jobs: Sequence[Job], *around: Any) -> None:
        with monkeypatch.context() as patch:

            def keep(attention, q, k, v, cache, metadata, output, **rest):  # type: ignore[no-untyped-def]
                result = forward(attention, q, k, v, cache, metadata, output, **rest)
                seen.update(q=q.clone(), k=k.clone(), v=v.clone(), out=output.clone(), positions=jobs[0].positions)
                return result

            patch.setattr(layer.impl, "forward", keep)
            recompute(jobs, *around)

    monkeypatch.setattr(rig.worker_side.fuser, "recompute", watching)
    rig.fused(ids, FusionRequest(new_id("ask"), TENANT, "head@8", segments))
    monkeypatch.setattr(rig.worker_side.fuser, "recompute", recompute)

    keys, values = mixture(rig, preamble, chunks)
    # The question, but for its last token, goes through the same forward; it is not looked at here.
    assert len(seen["positions"]) == 16 + len(QUESTION) - 1
    positions = seen["positions"][:16]
    heads, dim = layer.attention.num_heads, layer.shape[1]
    keys[positions], values[positions] = (seen[name].view(-1, *layer.shape)[:16] for name in ("k", "v"))
    reference = dense_attention(seen["q"].view(-1, heads, dim)[:16], keys, values, positions, layer.impl.scale)
    assert float((seen["out"].view(-1, heads, dim)[:16] - reference).abs().max()) < 1e-5


def mixture(rig: Rig, preamble: list[int], chunks: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Layer 0's loaded keys (rotated) and values of the whole context, from the store."""
    layer = rig.worker_side.layers[0]
    keys, values = [], []
    for before, ids in [((), preamble), *((preamble, chunk) for chunk in chunks)]:
        found = rig.store.get(TENANT, chunk_identity(rig.config.fingerprint, before, ids, Reading.OPENING))
        assert isinstance(found, Hit)
        k, v = found.blob.layer(0, LOSSLESS)
        keys.append(k.to(torch.float32))
        values.append(v)
    joined = torch.cat(keys)
    cos, sin = layer.rotary.cos_sin(torch.arange(len(joined)))
    rotated = rotate_keys(joined, cos, sin, neox=layer.rotary.neox, rotary_dim=layer.rotary.rotary_dim)
    return rotated, torch.cat(values)
