"""A tiny random model of the laboratory's own, and a prompt over it."""

from typing import Any

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from benchmarks.context import Piece
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import ExactRun
from generator.chat import ChatFrame
from generator.fusion_request import Segment, SegmentKind

VOCABULARY = 97


_SHAPE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 512,
    # Large enough that what a token sees changes what it predicts.
    "initializer_range": 0.2,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_PLAIN = {"rope_type": "default", "rope_theta": 10000.0}
_YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 128}

KINDS = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**_SHAPE, rope_parameters=_PLAIN)),
    "yarn": lambda: LlamaForCausalLM(LlamaConfig(**_SHAPE, rope_parameters=_YARN)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**_SHAPE, rope_parameters=_PLAIN)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**_SHAPE, rope_parameters=_PLAIN)),
}


def random_model(kind: str) -> PreTrainedModel:
    """The same weights every time."""
    torch.manual_seed(0)
    return KINDS[kind]().to(torch.float32).eval()


def tiny_model() -> DenseModel:
    return DenseModel(random_model("llama"))


def tiny_exact(model: DenseModel, *, answer_tokens: int = 4) -> ExactRun:
    """Preamble [0, 6), chunks [6, 26), [28, 48), [50, 70) with numbers of two tokens between, question of 7."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, VOCABULARY, (77,), generator=generator)
    kinds = (SegmentKind.PREAMBLE, SegmentKind.CHUNK, SegmentKind.TEXT, SegmentKind.CHUNK, SegmentKind.TEXT)
    edges = (0, 6, 26, 28, 48, 50, 70)
    segments = tuple(
        Segment(start, end, kind)
        for start, end, kind in zip(edges[:-1], edges[1:], (*kinds, SegmentKind.CHUNK), strict=True)
    )
    chunks = tuple(
        Piece(tuple(ids[segment.start : segment.end].tolist()), ())
        for segment in segments
        if segment.kind is SegmentKind.CHUNK
    )
    cache = model.empty_cache(77 + answer_tokens)
    hidden = model.forward(cache, ids, torch.arange(77))
    assert hidden is not None
    answer = torch.randint(3, VOCABULARY, (answer_tokens,), generator=generator)
    rest = model.forward(cache, answer[:-1], torch.arange(77, 77 + answer_tokens - 1))
    assert rest is not None
    rows = model.log_probabilities(torch.cat([hidden[-1:], rest]))
    return ExactRun(ids, segments, chunks, cache, answer, rows)


class LetterTokenizer:
    """One token a character, within the tiny vocabulary."""

    def encode(self, text: str) -> list[int]:
        return [3 + ord(letter) % (VOCABULARY - 3) for letter in text]

    def frame(self, system: str) -> ChatFrame:
        return ChatFrame(tuple(self.encode(system)), ())
