"""Chunk KV as the product keeps it: keys un-rotated, read behind a prefix, placed anywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.dense import DenseModel
from kernels.rope import rotate_keys, unrotate_keys


@dataclass(frozen=True)
class PieceKV:
    """Keys (un-rotated) and values of a piece of text: (tokens, layers * kv_heads, head_dim) float32."""

    keys: Tensor
    values: Tensor


@dataclass(frozen=True)
class Prefix:
    """What a chunk is read behind: `tokens` positions of `cache` are filled; the chunk starts at `start`.

    `start` is past `tokens` when the text between is only pretended.
    """

    cache: ScatterCache
    tokens: int
    start: int


def prefix_of(model: DenseModel, ids: Sequence[int], start: int | None = None) -> Prefix:
    """Prefill `ids`; the chunk sits right behind them, or at `start`."""
    cache = model.empty_cache(len(ids))
    model.forward(cache, torch.tensor(ids), torch.arange(len(ids)))
    return Prefix(cache, len(ids), len(ids) if start is None else start)


def read(model: DenseModel, prefix: Prefix, ids: Sequence[int]) -> PieceKV:
    """Read a chunk behind `prefix` and keep the chunk's part alone."""
    slots = torch.arange(prefix.tokens, prefix.tokens + len(ids))
    positions = torch.arange(prefix.start, prefix.start + len(ids))
    cache = prefix.cache.copy(prefix.tokens + len(ids))
    model.forward(cache, torch.tensor(ids), slots, positions=positions)
    return take(model, cache, slots, positions)


def take(model: DenseModel, cache: ScatterCache, slots: Tensor, positions: Tensor) -> PieceKV:
    """The piece in contiguous `slots` (tokens,), its keys un-rotated from `positions` (tokens,)."""
    cos, sin = model.cos_sin(positions)
    start, end = int(slots[0]), int(slots[-1]) + 1
    keys = _rows(cache.keys[:, :, start:end])
    plain = unrotate_keys(keys, cos, sin, neox=True, rotary_dim=2 * cos.shape[1])
    return PieceKV(plain, _rows(cache.values[:, :, start:end]))


def place(model: DenseModel, cache: ScatterCache, piece: PieceKV, start: int) -> None:
    """Write a piece at `start`, its keys rotated to there."""
    end = start + len(piece.keys)
    cos, sin = model.cos_sin(torch.arange(start, end))
    keys = rotate_keys(piece.keys, cos, sin, neox=True, rotary_dim=2 * cos.shape[1])
    shape = (end - start, model.layers, model.kv_heads, model.head_dim)
    cache.keys[:, :, start:end] = keys.view(shape).permute(1, 2, 0, 3)
    cache.values[:, :, start:end] = piece.values.view(shape).permute(1, 2, 0, 3)


def mean_of(pieces: Sequence[PieceKV]) -> PieceKV:
    return PieceKV(
        torch.stack([piece.keys for piece in pieces]).mean(0), torch.stack([piece.values for piece in pieces]).mean(0)
    )


def _rows(stacked: Tensor) -> Tensor:
    layers, kv_heads, tokens, head_dim = stacked.shape
    return stacked.permute(2, 0, 1, 3).reshape(tokens, layers * kv_heads, head_dim)
