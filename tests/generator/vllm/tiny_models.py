"""Tiny random-weight models of each tested shape, saved as Hugging Face folders."""

from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

VOCABULARY = 384
_SHAPE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 4096,
    # Large enough that what a token sees changes what it predicts.
    "initializer_range": 0.12,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def _llama(kv_heads: int = 2, **rope: Any) -> LlamaForCausalLM:
    shape = _SHAPE | {"num_key_value_heads": kv_heads}
    return LlamaForCausalLM(LlamaConfig(**shape, rope_parameters={"rope_theta": 10000.0, **rope}))


def _qwen2() -> Qwen2ForCausalLM:
    return Qwen2ForCausalLM(Qwen2Config(**_SHAPE, rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}))


def _qwen3() -> Qwen3ForCausalLM:
    return Qwen3ForCausalLM(Qwen3Config(**_SHAPE, rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}))


MODELS = {
    "llama": lambda: _llama(rope_type="default"),
    "one-kv-head": lambda: _llama(kv_heads=1, rope_type="default"),
    "qwen2": _qwen2,
    "qwen3": _qwen3,
    "llama3-scaled": lambda: _llama(
        rope_type="llama3",
        factor=8.0,
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_position_embeddings=512,
    ),
    "linear-scaled": lambda: _llama(rope_type="linear", factor=2.0),
    "yarn-scaled": lambda: _llama(rope_type="yarn", factor=4.0, original_max_position_embeddings=1024),
    "partial-rotary": lambda: _llama(rope_type="default", partial_rotary_factor=0.5),
}


def save_tiny_model(kind: str, folder: Path) -> Path:
    """Write the model `kind` into `folder`, the same weights every time."""
    torch.manual_seed(0)
    model = MODELS[kind]()
    model.to(torch.float32).save_pretrained(folder)
    return folder
