"""A model's profile: what the codec knows about its KV beforehand, so that no blob carries tables of its own.

    profile = load_profile(path)
    plan = profile.plan("default")
    plan.section(layer, kind).synthesis

It is calibrated once a model (`preread calibrate`) and kept as one safetensors file, named after its id. See
docs/codec.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kernels.rans.tables import Tables
from kvstore.errors import BadProfile
from kvstore.presets import ProfilePreset

DROPPED = 255
CLASSES_PER_OCTAVE = 2
MAX_LEVEL = 3
MAX_SHIFT = 7


@dataclass(frozen=True, eq=False)
class Basis:
    """What presets of one weighting share; kind 0 is keys, 1 values, and `width` is kv_heads * head_dim.

    means, weights: (layers, 2, width) float32. vectors: (layers, 2, kv_heads, head_dim, head_dim) float16, of each
    head one component a row, by falling variance; None where channels are quantised as they are. detector: (layers, 2, 2 * width) float32 and
    bias: (layers, 2) float32, which give a token's level as round(keys and values @ detector + bias) within 0..3; None
    where all tokens have level 0.
    """

    means: Tensor
    weights: Tensor
    vectors: Tensor | None = None
    detector: Tensor | None = None
    bias: Tensor | None = None


@dataclass(frozen=True, eq=False)
class PresetTables:
    """What a preset has of its own.

    tables: (layers, 2, channels) uint8, the frequency table of each channel; 255: the channel is dropped.
    shifts: (layers, 2, channels) uint8, how many low bits of a channel are coded apart, evenly.
    anchored: (layers, 2, channels) bool, coded as differences.
    """

    preset: ProfilePreset
    tables: NDArray[np.uint8]
    shifts: NDArray[np.uint8]
    anchored: NDArray[np.bool_]
    frequencies: Tables


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


def step_of(preset: ProfilePreset, layer: int, layers: int) -> float:
    return preset.step * preset.by_depth[layer * len(preset.by_depth) // layers]


@dataclass(frozen=True, eq=False)
class Profile:
    """`fingerprints`: the models it was calibrated for; a model has one a dtype. `source`: what it was calibrated on.

    Raises: BadProfile where its parts do not fit each other.
    """

    id: str
    fingerprints: tuple[str, ...]
    bases: Mapping[str, Basis]
    presets: Mapping[str, PresetTables]
    source: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, own in self.presets.items():
            basis = self.bases.get(own.preset.basis)
            if basis is None or own.tables.shape != tuple(basis.means.shape) or own.shifts.shape != own.tables.shape:
                raise BadProfile(f"The profile's preset {name} does not fit its basis.")
            kept, highest = own.tables[own.tables != DROPPED], CLASSES_PER_OCTAVE * MAX_LEVEL
            if kept.size and int(kept.max()) + highest >= own.frequencies.movable:
                raise BadProfile(f"The profile's preset {name} names a table that it does not have.")
            if int(own.shifts.max()) > len(own.frequencies.frequencies) - own.frequencies.movable:
                raise BadProfile(f"The profile's preset {name} has no table for some low bits.")

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, width)."""
        means = next(iter(self.bases.values())).means
        return means.shape[0], means.shape[2]

    def plan(self, preset: str) -> Plan:
        """Raises: BadProfile for a preset that it was not calibrated for."""
        if preset not in self.presets:
            raise BadProfile(
                f"The profile {self.id} has no preset {preset!r}, only {', '.join(sorted(self.presets))}.",
                "Run `preread calibrate --presets` with it.",
            )
        return self._plans.setdefault(preset, Plan(self.bases[self.presets[preset].preset.basis], self.presets[preset]))

    @cached_property
    def _plans(self) -> dict[str, Plan]:
        return {}


__all__ = [
    "CLASSES_PER_OCTAVE",
    "DROPPED",
    "MAX_LEVEL",
    "MAX_SHIFT",
    "Basis",
    "Plan",
    "PresetTables",
    "Profile",
    "SectionPlan",
    "plane_channels",
    "step_of",
]
