"""Where in a chunk the error of a reading sits, and where the question looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import torch
from torch import Tensor

from benchmarks.lab import scores as measures
from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import ExactRun, ask

EDGES = (-1, 0, 1, 4, 16, 64, 1 << 20)
_ELSEWHERE = -2


@dataclass(frozen=True)
class Place:
    """Tokens of chunks after the first, `start` to `end` tokens from their chunk's start; -1 to 0: the numbers.

    moved_keys, moved_values: mean over tokens and layers of |reused - exact|² ÷ the layer's mean |exact|².
    seen_exact, seen_reused: share of the question's attention, mean over layers and heads, over exact and reused KV.
    """

    start: int
    end: int
    tokens: int
    moved_keys: float
    moved_values: float
    seen_exact: float
    seen_reused: float


def places(model: DenseModel, exact: ExactRun, base: ScatterCache) -> list[Place]:
    keys, values = _moved(exact.cache.keys, base.keys, exact), _moved(exact.cache.values, base.values, exact)
    seen = [_seen(model, exact, cache) for cache in (exact.cache.copy(), base)]
    offsets = torch.full((exact.context,), _ELSEWHERE)
    offsets[exact.numbers] = -1
    for segment in exact.chunk_segments[1:]:
        offsets[segment.start : segment.end] = torch.arange(segment.n_tokens)
    found = []
    for start, end in pairwise(EDGES):
        here = (offsets >= start) & (offsets < end)
        shares = [float(share[here].sum()) for share in seen]
        tokens = int(here.sum())
        moved = [float(series[here].sum()) / max(tokens, 1) for series in (keys, values)]
        found.append(Place(start, end, tokens, moved[0], moved[1], shares[0], shares[1]))
    return found


def mean_places(several: Sequence[Sequence[Place]]) -> list[Place]:
    """The mean over questions, each place weighted alike in every question."""
    return [_mean(column) for column in zip(*several, strict=True)]


def _mean(column: Sequence[Place]) -> Place:
    def mean(name: str) -> float:
        return fmean(float(getattr(place, name)) for place in column)

    first = column[0]
    tokens = round(mean("tokens"))
    figures = (mean("moved_keys"), mean("moved_values"), mean("seen_exact"), mean("seen_reused"))
    return Place(first.start, first.end, tokens, *figures)


def _moved(new: Tensor, old: Tensor, exact: ExactRun) -> Tensor:
    """(layers, kv_heads, positions, head_dim) each, to (context,)."""
    end = exact.context
    distance = (new[:, :, :end] - old[:, :, :end]).square().sum(-1)
    size = new[:, :, :end].square().sum(-1).mean((1, 2), keepdim=True)
    return (distance / size).mean((0, 1))


def _seen(model: DenseModel, exact: ExactRun, cache: ScatterCache) -> Tensor:
    watch = ask(model, exact, cache)
    layers = [
        measures.attention(queries, cache.keys[layer], exact.context).mean((0, 1))
        for layer, queries in enumerate(watch.queries)
    ]
    return torch.stack(layers).mean(0)
