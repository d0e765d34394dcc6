"""A model that was never tested is served exactly, and says why."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from fusion_rig import TENANT, Rig, random_ids, segments_of
from quantised_models import AVX512, INT8_DTYPE, save_quantised_model
from transformers import GPT2Config, GPT2LMHeadModel, MistralConfig, MistralForCausalLM

from app.core.ids import new_id
from generator.fusion_request import FusionRequest


def gpt2(folder: Path) -> None:
    shape = {"vocab_size": 384, "n_positions": 512, "n_embd": 128, "n_layer": 2, "n_head": 4}
    GPT2LMHeadModel(GPT2Config(**shape, bos_token_id=1, eos_token_id=2)).save_pretrained(folder)


def windowed_mistral(folder: Path) -> None:
    model = MistralForCausalLM(
        MistralConfig(
            vocab_size=384,
            hidden_size=128,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=512,
            sliding_window=64,
        )
    )
    model.save_pretrained(folder)


def llama_that_asks_for_kv_in_fp8(folder: Path) -> None:
    save_quantised_model("int8-w8a8-fp8-kv", folder)


@pytest.mark.parametrize(
    ("save", "dtype", "reason"),
    [
        (gpt2, "float32", "GPT2LMHeadModel has not been tested"),
        (windowed_mistral, "float32", "has not been tested"),
        *([(llama_that_asks_for_kv_in_fp8, INT8_DTYPE, "keeps its KV in fp8")] if AVX512 else []),
    ],
)
def test_an_untested_model_is_served_exactly_and_says_why(
    save: Callable[[Path], None], dtype: str, reason: str, tmp_path_factory: pytest.TempPathFactory, preamble: list[int]
) -> None:
    state = tmp_path_factory.mktemp("untested")
    torch.manual_seed(0)
    save(state / "model")
    rig = Rig.start(state / "model", state, dtype, max_model_len=512, max_num_batched_tokens=512)
    try:
        status = rig.status()
        assert status["fusion"] is False
        assert reason in status["fusion_reason"]
        chunk = random_ids(70, 60)
        ids = [*preamble, *chunk, *random_ids(71, 10)]
        answer = rig.fused(ids, FusionRequest(new_id("ask"), TENANT, "none", segments_of(preamble, chunk)))
        assert answer.report is not None
        assert answer.report.not_fused == status["fusion_reason"]
        assert answer.report.reused_tokens == 0
        assert torch.equal(answer.logprobs, rig.exact(ids).logprobs)
        assert "does not fuse" in (rig.capture([*preamble, *chunk], segments_of(preamble, chunk)) or "")
    finally:
        rig.close()
