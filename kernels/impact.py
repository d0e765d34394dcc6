"""Attention impact: how much some queries look at each cached key."""

import torch
from torch import Tensor

from kernels.errors import BadShape


def attention_impact(queries: Tensor, keys: Tensor, scale: float) -> Tensor:
    """Attention weights summed over queries and heads.

    Args:
        queries: (queries, heads, head_dim), rotated, any float dtype; all stand behind every key.
        keys: (tokens, kv_heads, head_dim), rotated; heads // kv_heads query heads share one of them, in order.
        scale: the model's factor on scores before the softmax.
    Returns: (tokens,) float32; computed in float32, the softmax running over these tokens alone.
    Raises: BadShape.
    Source: ProphetKV (arXiv 2602.02579) and QCFuse (arXiv 2606.05875) choose tokens by such sums.
    """
    if queries.dim() != 3 or keys.dim() != 3 or queries.shape[2] != keys.shape[2] or queries.shape[1] % keys.shape[1]:
        raise BadShape(f"Queries {tuple(queries.shape)} do not fit keys {tuple(keys.shape)}.")
    count, heads, dim = queries.shape
    tokens, kv_heads, _ = keys.shape
    grouped = queries.to(torch.float32).view(count, kv_heads, heads // kv_heads, dim).permute(1, 0, 2, 3)
    rows = grouped.reshape(kv_heads, -1, dim) * scale
    weights = torch.bmm(rows, keys.to(torch.float32).permute(1, 2, 0)).softmax(dim=-1)
    return weights.sum(dim=(0, 1)) if tokens else weights.new_zeros(0)


__all__ = ["attention_impact"]
