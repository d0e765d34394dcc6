"""Drift as in the engine: within the forward, layer by layer, a chunk's rest moves as its fresh tokens moved."""

import torch
from torch import Tensor

from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.dense import DenseModel
from generator.fusion_request import Segment
from kernels.drift import drift, summed_changes
from kernels.rope import rotate_keys, unrotate_keys


class FollowingCache(ScatterCache):
    """A copy of `base` in which the chunks `segments` follow what a pass writes; values by `part` of it."""

    def __init__(self, model: DenseModel, base: ScatterCache, segments: list[Segment], part: float) -> None:
        super().__init__(base.keys.clone(), base.values.clone())
        self._model = model
        self._base = base
        self._segments = segments
        self._part = part

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        rows = self._positions
        for segment in self._segments:
            own = (rows >= segment.start) & (rows < segment.end)
            if own.any():
                self._follow(segment, rows[own], keys[0][:, own], values[0][:, own], layer)
        return super().update(keys, values, layer)

    def _follow(self, segment: Segment, rows: Tensor, keys: Tensor, values: Tensor, layer: int) -> None:
        """keys, values: (kv_heads, rows, head_dim), what the pass is about to write."""
        span = slice(segment.start, segment.end)
        old_keys, old_values = self._base.keys[layer], self._base.values[layer]
        plain = self._plain(old_keys[:, span], torch.arange(segment.start, segment.end))
        places = rows - segment.start
        moved = _mean(self._plain(keys, rows), plain[places])
        cos, sin = self._model.cos_sin(torch.arange(segment.start, segment.end))
        turned = rotate_keys(plain + moved, cos, sin, neox=True, rotary_dim=2 * cos.shape[1])
        self.keys[layer][:, span] = turned.transpose(0, 1)
        moved = _mean(values.transpose(0, 1), old_values[:, rows].transpose(0, 1))
        self.values[layer][:, span] = old_values[:, span] + self._part * moved.transpose(0, 1)

    def _plain(self, keys: Tensor, positions: Tensor) -> Tensor:
        """(kv_heads, tokens, head_dim) rotated keys to (tokens, kv_heads, head_dim) un-rotated ones."""
        cos, sin = self._model.cos_sin(positions)
        return unrotate_keys(keys.transpose(0, 1), cos, sin, neox=True, rotary_dim=2 * cos.shape[1])


def _mean(fresh: Tensor, cached: Tensor) -> Tensor:
    """Both (tokens, kv_heads, head_dim), of one chunk; (1, kv_heads, head_dim)."""
    one = torch.zeros(len(fresh), dtype=torch.int64)
    return drift(summed_changes(fresh, cached, one, 1), torch.tensor([len(fresh)]))
