"""One preset of a profile, ready to code with: each section's matrices, worked out when they are first asked for."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kvstore.basis import DROPPED, MAX_LEVEL, Basis, PresetTables
from kvstore.presets import step_of


@dataclass(frozen=True, eq=False)
class SectionPlan:
    """How one layer's keys or values are coded, a head at a time.

    mean: (width,) float32. analysis: (heads, head_dim, head_dim) float32, from a head's values less the mean to its
    channels in steps. kept: (channels,) int64, which of all channels are coded. synthesis: (planes, head_dim) float32,
    from planes back to values. heads: where each head's planes begin, and the last one's end. planes: (planes,) uint8,
    their tables. shifts: (channels,). Each channel has one plane, and a second of its low bits where its shift is not
    0. anchored: (planes,). anchored_channels: (channels,).
    """

    mean: Tensor
    analysis: Tensor
    kept: NDArray[np.int64]
    synthesis: Tensor
    heads: tuple[int, ...]
    planes: NDArray[np.uint8]
    shifts: NDArray[np.uint8]
    anchored: NDArray[np.bool_]
    anchored_channels: NDArray[np.bool_]

    def steps(self, values: Tensor) -> NDArray[np.float32]:
        """(tokens, width) values as (tokens, channels) kept channels in steps, contiguous."""
        count, dim, _ = self.analysis.shape
        by_head = (values - self.mean).view(len(values), count, dim).transpose(0, 1)
        channels = torch.bmm(by_head, self.analysis).permute(1, 0, 2).reshape(len(values), -1).numpy()
        return channels if len(self.kept) == channels.shape[1] else np.ascontiguousarray(channels[:, self.kept])

    def values(self, numbers: Tensor) -> Tensor:
        """(planes, tokens) numbers in steps as (tokens, width) values."""
        turned = numbers.T
        return torch.cat([torch.addmm(mean, turned[:, planes], rows) for planes, mean, rows in self._by_head], 1)

    @cached_property
    def _by_head(self) -> list[tuple[slice, Tensor, Tensor]]:
        """Of each head its planes, its part of the mean, and its rows of the synthesis."""
        planes = [slice(first, end) for first, end in pairwise(self.heads)]
        means = self.mean.view(len(planes), -1)
        return [(each, mean, self.synthesis[each]) for each, mean in zip(planes, means, strict=True)]


class Plan:
    """One preset of a profile, ready to code with. Sections are prepared when they are first asked for."""

    def __init__(self, basis: Basis, own: PresetTables) -> None:
        self.preset = own.preset
        self.tables = own.frequencies
        self._basis = basis
        self._own = own
        self._sections: dict[tuple[int, int], SectionPlan] = {}

    @property
    def layers(self) -> int:
        return len(self._own.tables)

    @property
    def width(self) -> int:
        return self._basis.means.shape[-1]

    def section(self, layer: int, kind: int) -> SectionPlan:
        if (layer, kind) not in self._sections:
            self._sections[layer, kind] = self._prepare(layer, kind)
        return self._sections[layer, kind]

    def prepare(self) -> None:
        """Work out every section's matrices, and the tables' look-ups."""
        for layer in range(self.layers):
            for kind in (0, 1):
                self.section(layer, kind)
        _ = self.tables.slots

    def levels(self, layer: int, kind: int, keys: Tensor, values: Tensor) -> Tensor:
        """(tokens,) int64 of (tokens, width) float32 keys and values."""
        if self._basis.detector is None or self._basis.bias is None:
            return torch.zeros(len(keys), dtype=torch.int64)
        score = torch.cat([keys, values], 1) @ self._basis.detector[layer, kind] + self._basis.bias[layer, kind]
        return score.round().clamp(0, MAX_LEVEL).to(torch.int64)

    def step(self, layer: int) -> float:
        return step_of(self.preset, layer, self.layers)

    def _prepare(self, layer: int, kind: int) -> SectionPlan:
        rows = self._rows(layer, kind)  # (heads, components, head_dim)
        heads, dim, _ = rows.shape
        weights = self._basis.weights[layer, kind].view(heads, 1, dim)
        kept = np.flatnonzero(self._own.tables[layer, kind] != DROPPED)
        shifts, anchored = self._own.shifts[layer, kind][kept], self._own.anchored[layer, kind][kept]
        tables = self._own.tables[layer, kind][kept]
        step = self.step(layer)
        coarse = plane_channels(shifts)
        channels = kept[coarse.channels]
        scale = np.where(coarse.low, 1, 2 ** shifts[coarse.channels].astype(np.int64)).astype(np.float32)
        synthesis = (rows * (step / weights)).view(heads * dim, dim)[torch.from_numpy(channels)]
        uniform = self.tables.movable - 1 + shifts[coarse.channels]
        return SectionPlan(
            mean=self._basis.means[layer, kind],
            analysis=(rows * weights / step).transpose(1, 2).contiguous(),
            kept=kept,
            synthesis=(synthesis * torch.from_numpy(scale)[:, None]).contiguous(),
            heads=tuple(np.searchsorted(channels, np.arange(heads + 1) * dim).tolist()),
            planes=np.where(coarse.low, uniform, tables[coarse.channels]).astype(np.uint8),
            shifts=shifts,
            anchored=anchored[coarse.channels],
            anchored_channels=anchored,
        )

    def _rows(self, layer: int, kind: int) -> Tensor:
        if self._basis.vectors is None:
            return torch.eye(self.width)[None]
        return self._basis.vectors[layer, kind].to(torch.float32)


@dataclass(frozen=True, eq=False)
class PlaneChannels:
    """channels: (planes,) int64, which channel each plane belongs to; low: (planes,) bool, the plane of low bits."""

    channels: NDArray[np.int64]
    low: NDArray[np.bool_]


def plane_channels(shifts: NDArray[np.uint8]) -> PlaneChannels:
    """Each channel's plane, and right behind it that of its low bits where it has a shift."""
    channels = np.repeat(np.arange(len(shifts)), np.where(shifts > 0, 2, 1))
    low = np.zeros(len(channels), bool)
    low[1:] = channels[1:] == channels[:-1]
    return PlaneChannels(channels, low)


__all__ = ["Plan", "SectionPlan"]
