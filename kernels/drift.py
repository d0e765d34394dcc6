"""Drift: what a chunk's tokens have in common in how they moved."""

import torch
from torch import Tensor

from kernels.errors import BadShape

DOUBT = 2.0
"""About a third of what keys change by in company is common to their chunk."""


def summed_changes(fresh: Tensor, cached: Tensor, chunks: Tensor, count: int) -> Tensor:
    """What some tokens' keys or values changed by, added up chunk by chunk.

    Args:
        fresh, cached: (tokens, kv_heads, head_dim), any float dtype; keys un-rotated, so that they can be compared
            wherever they stand.
        chunks: (tokens,) int64 in 0..count - 1, the chunk of each token.
    Returns: (count, kv_heads, head_dim) float32.
    Raises: BadShape.
    """
    if fresh.shape != cached.shape or fresh.dim() != 3 or chunks.shape != fresh.shape[:1]:
        raise BadShape(f"{tuple(fresh.shape)}, {tuple(cached.shape)} and chunks {tuple(chunks.shape)} do not fit.")
    sums = torch.zeros(count, *fresh.shape[1:])
    return sums.index_add_(0, chunks, fresh.to(torch.float32) - cached.to(torch.float32))


def drift(sums: Tensor, tokens: Tensor, doubt: float = DOUBT) -> Tensor:
    """Each chunk's mean change, drawn towards none where few tokens tell it.

    Args:
        sums: (chunks, kv_heads, head_dim) float32; `tokens`: (chunks,) how many changes each is the sum of.
        doubt: how many times larger the changes' variance around their common part is than that part.
    Returns: (chunks, kv_heads, head_dim) float32, sums / (tokens + doubt).
    Source: the posterior mean of a normal mean; AgentKVShift (arXiv 2607.21604) moves what is reused by the plain mean.
    """
    return sums / (tokens.to(sums.dtype) + doubt)[:, None, None]


__all__ = ["drift", "summed_changes"]
