"""The start-up self-test passes on a sound engine, and refuses when writer or mask are wrong."""

import pytest
import torch
from fusion_rig import Rig

from generator.vllm import selftest
from generator.vllm.pages import LayerPages


def run(rig: Rig, layers: list[LayerPages]) -> str | None:
    runner = rig.core.model_executor.driver_worker.worker.model_runner
    return selftest.self_test(runner, layers, rig.llm.llm_engine.vllm_config.cache_config.block_size)


def test_a_sound_engine_passes(rig: Rig) -> None:
    assert run(rig, rig.worker_side.layers) is None


def test_a_writer_that_swaps_tokens_is_caught_and_the_layer_named(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = rig.worker_side.layers[2]
    write = layer.impl.do_kv_cache_update
    monkeypatch.setattr(layer.impl, "do_kv_cache_update", lambda a, k, v, c, s: write(a, k.flip(0), v, c, s))
    assert layer.name in (run(rig, rig.worker_side.layers) or "")


def test_a_mask_that_shows_the_future_is_caught(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    attention_metadata = selftest.attention_metadata

    def sees_everything(*arguments: object) -> object:
        common = attention_metadata(*arguments)  # type: ignore[arg-type]
        common.seq_lens = torch.full_like(common.seq_lens, 40)
        return common

    monkeypatch.setattr(selftest, "attention_metadata", sees_everything)
    assert "off by" in (run(rig, rig.worker_side.layers) or "")


def test_the_pages_are_left_clean(rig: Rig) -> None:
    run(rig, rig.worker_side.layers)
    assert all(not layer.cache[-1].any() for layer in rig.worker_side.layers)
