"""Scores in, positions out. Pure."""

from collections.abc import Sequence

import torch
from torch import Tensor

from generator.plan import sampling


def choose(
    scores: Tensor,
    allowed: Tensor,
    budget: int,
    *,
    heads: Sequence[int] = (),
    span: int = 1,
    join: int = 0,
    sample: int = 0,
) -> Tensor:
    """The positions to make fresh: at most `budget`, ascending.

    Args:
        scores: (positions,) float; higher first, ties by position.
        allowed: (positions,) bool; nothing else is ever chosen.
        heads: positions that come before any score.
        span: choose whole spans of that many positions by their mean score.
        join: fill gaps of up to that many allowed positions between chosen ones; they count.
        sample: one of so many positions is of an even sample; 0: none.
    """
    order = _order(scores, allowed, heads, span)
    if sample:
        order = sampling(order, sample)
    few, many = 0, min(budget, len(order))
    while few < many:
        middle = (few + many + 1) // 2
        if int(_joined(order[:middle], allowed, join).sum()) <= budget:
            few = middle
        else:
            many = middle - 1
    return _joined(order[:few], allowed, join).nonzero()[:, 0]


def moving(scores: Tensor, width: int, *, maximum: bool) -> Tensor:
    """Average or maximum of (positions,) scores over a centred window of `width`, an odd number."""
    if width == 1:
        return scores
    padded = scores[None, None]
    if maximum:
        pooled = torch.nn.functional.max_pool1d(padded, width, 1, width // 2)
    else:
        pooled = torch.nn.functional.avg_pool1d(padded, width, 1, width // 2)
    return pooled[0, 0]


def _order(scores: Tensor, allowed: Tensor, heads: Sequence[int], span: int) -> Tensor:
    if span > 1:
        edges = torch.arange(len(scores)) // span
        count = torch.zeros(int(edges[-1]) + 1).index_add_(0, edges, allowed.float())
        total = torch.zeros(int(edges[-1]) + 1).index_add_(0, edges, scores.float() * allowed)
        # Within a span all are equal; a hair less for later spans keeps ties whole.
        scores = (total / count.clamp_min(1))[edges].double() - edges * 1e-15
    order = torch.sort(scores, descending=True, stable=True).indices
    order = order[allowed[order]]
    if not len(heads):
        return order
    first = torch.tensor([head for head in heads if allowed[head]], dtype=torch.int64)
    return torch.cat([first, order[~torch.isin(order, first)]])


def _joined(chosen: Tensor, allowed: Tensor, gap: int) -> Tensor:
    marked = torch.zeros_like(allowed)
    marked[chosen] = True
    if not gap or not len(chosen):
        return marked
    at = marked.nonzero()[:, 0]
    for left, right in zip(at[:-1].tolist(), at[1:].tolist(), strict=True):
        if 1 < right - left <= gap + 1 and bool(allowed[left:right].all()):
            marked[left:right] = True
    return marked
