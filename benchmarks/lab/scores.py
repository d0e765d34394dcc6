"""What each position of the context is worth making fresh, by several measures. Pure array code."""

from collections.abc import Sequence

import torch
from torch import Tensor


def attention(queries: Tensor, keys: Tensor, context: int, between: int = 0) -> Tensor:
    """The attention of the question, or of what is behind it, to the context in one layer.

    Args:
        queries: (heads, rows, head_dim), rotated; the rows stand `between` tokens behind the context.
        keys: (kv_heads, context + between + rows or more, head_dim), rotated.
    Returns: (heads, rows, context) float32: shares of all that a row sees, question included.
    """
    heads, rows, dim = queries.shape
    group = heads // len(keys)
    end = context + between + rows
    logits = queries.reshape(len(keys), group * rows, dim) @ keys[:, :end].transpose(1, 2) * dim**-0.5
    logits = logits.view(heads, rows, end)
    future = torch.ones(rows, rows, dtype=torch.bool).triu(1)
    logits[:, :, context + between :].masked_fill_(future, -torch.inf)
    shares: Tensor = logits.softmax(-1)[:, :, :context]
    return shares


def pooled(shares: Tensor, *, pool: str, pick: str, among: Tensor | None) -> Tensor:
    """(heads, rows, context) shares to (context,).

    Args:
        pool: over rows, `sum`, `max` or `last`.
        pick: over heads, `sum` or `max`.
        among: (context,) bool; each head's and row's shares are first made to sum to 1 over these.
    """
    if among is not None:
        shares = shares / (shares * among).sum(-1, keepdim=True).clamp_min(1e-12)
    if pool == "last":
        by_head = shares[:, -1]
    elif pool == "max":
        by_head = shares.amax(1)
    else:
        by_head = shares.sum(1)
    return by_head.amax(0) if pick == "max" else by_head.sum(0)


def deviation(old_keys: Tensor, old_values: Tensor, new_keys: Tensor, new_values: Tensor, *, keys: bool) -> Tensor:
    """How far each position moved: (layers, kv_heads, positions, head_dim) each, to (positions,).

    Squared distance, values alone or keys as well; with keys, and over several layers, each part is divided by the
    mean squared norm of the new one, so that no layer drowns the others.
    """
    moved = (new_values - old_values).square().sum(-1)
    if not keys and len(moved) == 1:
        return moved.sum((0, 1))
    size = new_values.square().sum(-1).mean((1, 2), keepdim=True)
    total = (moved / size).sum((0, 1))
    if keys:
        turned = (new_keys - old_keys).square().sum(-1)
        total = total + (turned / new_keys.square().sum(-1).mean((1, 2), keepdim=True)).sum((0, 1))
    return total


def value_norms(values: Tensor, heads: int) -> Tensor:
    """(kv_heads, positions, head_dim) to (heads, 1, positions): the length of what each head would read there."""
    norms = torch.linalg.vector_norm(values, dim=-1)
    each: Tensor = norms.repeat_interleave(heads // len(norms), 0)
    return each[:, None]


def total(parts: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(parts)).sum(0)
