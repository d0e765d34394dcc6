"""One preset of a profile, ready to code with: each section's matrices, worked out when they are first asked for."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kernels.synthesis import Synthesis
from kvstore.basis import DROPPED, MAX_LEVEL, Basis, PresetTables
from kvstore.presets import step_of


@dataclass(frozen=True, eq=False)
class SectionPlan:
    """How one layer's keys or values are coded. Channels are those that are kept, head by head.

    analysis: of each head its (channels, head_dim) float32, from its values to its channels in steps; offset:
    (channels,) float32, what the mean amounts to there. shifts: (channels,) uint8. Each channel has one plane, and a
    second of its low bits where its shift is not 0. anchored: (channels,) bool. synthesis: the way back.
    """

    analysis: tuple[Tensor, ...]
    offset: Tensor
    shifts: NDArray[np.uint8]
    anchored: NDArray[np.bool_]
    synthesis: Synthesis

    def steps(self, values: Tensor) -> NDArray[np.float32]:
        """(tokens, width) values as (channels, tokens) in steps, contiguous."""
        by_head = torch.split(values.T, len(self.synthesis.mean) // len(self.analysis))
        steps = torch.empty(len(self.offset), len(values))
        parts = torch.split(steps, [len(rows) for rows in self.analysis])
        for rows, head, part in zip(self.analysis, by_head, parts, strict=True):
            torch.mm(rows, head, out=part)
        return steps.sub_(self.offset[:, None]).numpy()


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

    def levels(self, layer: int, keys: Tensor, values: Tensor) -> Tensor:
        """(2, tokens) uint8, of the keys and of the values, from (tokens, width) float32."""
        if self._basis.detector is None or self._basis.bias is None:
            return torch.zeros(2, len(keys), dtype=torch.uint8)
        of_keys, of_values = torch.split(self._basis.detector[layer], self.width, dim=1)
        score = of_keys @ keys.T + of_values @ values.T + self._basis.bias[layer, :, None]
        return score.round_().clamp_(0, MAX_LEVEL).to(torch.uint8)

    def step(self, layer: int) -> float:
        return step_of(self.preset, layer, self.layers)

    def _prepare(self, layer: int, kind: int) -> SectionPlan:
        rows = self._rows(layer, kind)  # (heads, components, head_dim)
        heads, dim, _ = rows.shape
        weights = self._basis.weights[layer, kind].view(heads, 1, dim)
        mean = self._basis.means[layer, kind]
        kept = np.flatnonzero(self._own.tables[layer, kind] != DROPPED)
        shifts, anchored = self._own.shifts[layer, kind][kept], self._own.anchored[layer, kind][kept]
        step = self.step(layer)
        coarse = plane_channels(shifts)
        channels = kept[coarse.channels]
        scale = np.where(coarse.low, 1, 2 ** shifts[coarse.channels].astype(np.int64)).astype(np.float32)
        analysis = rows * weights / step
        offset = (analysis @ mean.view(heads, dim, 1)).flatten()
        synthesis = (rows * (step / weights)).view(heads * dim, dim)[torch.from_numpy(channels)]
        uniform = self.tables.movable - 1 + shifts[coarse.channels]
        bounds = np.arange(heads + 1) * dim
        return SectionPlan(
            analysis=torch.split(
                analysis.view(heads * dim, dim)[torch.from_numpy(kept)],
                np.diff(np.searchsorted(kept, bounds)).tolist(),
            ),
            offset=offset[torch.from_numpy(kept)],
            shifts=shifts,
            anchored=anchored,
            synthesis=Synthesis(
                planes=np.where(coarse.low, uniform, self._own.tables[layer, kind][channels]).astype(np.uint8),
                rows=(synthesis * torch.from_numpy(scale)[:, None]).contiguous().numpy(),
                heads=np.searchsorted(channels, bounds),
                mean=mean.numpy(),
                anchored=anchored[coarse.channels],
                group=self.preset.anchor_tokens,
            ),
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
