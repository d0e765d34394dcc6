"""Cosines and sines by position, from the model's own rotary modules."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
import vllm._custom_ops as ops
from torch import Tensor, nn
from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbedding
from vllm.model_executor.layers.rotary_embedding.linear_scaling_rope import LinearScalingRotaryEmbedding
from vllm.model_executor.layers.rotary_embedding.llama3_rope import Llama3RotaryEmbedding
from vllm.model_executor.layers.rotary_embedding.yarn_scaling_rope import YaRNScalingRotaryEmbedding

from kernels.rope import rotate_keys

TESTED = (RotaryEmbedding, LinearScalingRotaryEmbedding, Llama3RotaryEmbedding, YaRNScalingRotaryEmbedding)


@dataclass(frozen=True)
class Rotary:
    """One rotary module's table.

    table: (positions, rotary_dim), cosines then sines, scaling and magnitude already applied.
    neox: half-split pairing when True, interleaved otherwise.
    """

    table: Tensor
    neox: bool
    rotary_dim: int

    def rotate(self, keys: Tensor, positions: Tensor) -> Tensor:
        """Rotate contiguous keys (tokens, kv_heads, head_dim) to `positions` (tokens,), computing in float32.

        Keys of the table's dtype go through the kernel that the model itself uses, in place; 16-bit ones too where the
        table has 32.
        """
        if self.table.dtype == torch.float32:
            keys = keys.to(torch.float32)
        if keys.dtype != self.table.dtype:
            cos, sin = self.cos_sin(positions)
            return rotate_keys(keys, cos, sin, neox=self.neox, rotary_dim=self.rotary_dim)
        tokens, heads, dim = keys.shape
        ops.rotary_embedding(positions, keys.view(tokens, heads * dim), None, dim, self.table, self.neox)
        return keys

    def cos_sin(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Two (tokens, rotary_dim // 2) float32 tensors for (tokens,) positions."""
        cos, sin = self.table[positions].to(torch.float32).chunk(2, dim=-1)
        return cos, sin


def rotaries(model: nn.Module, layer_names: Iterable[str]) -> dict[str, Rotary | str]:
    """For each attention layer its rotary table, or why it has none that was tested.

    The rotary module is the `rotary_emb` beside the attention layer, as in every decoder of vLLM.
    """
    wanted = set(layer_names)
    tables: dict[int, Rotary | str] = {}
    found: dict[str, Rotary | str] = dict.fromkeys(wanted, "no rotary embedding beside the layer")
    for module in model.modules():
        attention, rotary = getattr(module, "attn", None), getattr(module, "rotary_emb", None)
        name = getattr(attention, "layer_name", None)
        if name in wanted and isinstance(rotary, nn.Module):
            found[name] = tables.setdefault(id(rotary), _read(rotary))
    return found


def _read(rotary: nn.Module) -> Rotary | str:
    if type(rotary) not in TESTED:
        return f"rotary embedding {type(rotary).__name__} is untested"
    if isinstance(rotary, LinearScalingRotaryEmbedding) and len(rotary.scaling_factors) > 1:
        return "several linear scaling factors are untested"
    assert isinstance(rotary, RotaryEmbedding)
    return Rotary(rotary.cos_sin_cache, bool(rotary.is_neox_style), int(rotary.rotary_dim))
