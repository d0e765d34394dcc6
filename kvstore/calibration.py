"""Calibration: a model's profile from chunk KV and from how the model's output changes with it.

Steps follow from rate-distortion theory: where an error d in a channel costs w**2 d**2 nats, and rate is what counts,
steps proportional to 1 / w are best, and the transform that makes weighted channels independent saves what they tell
of each other (the Karhunen-Loeve transform; Goyal, Theoretical Foundations of Transform Coding, 2001).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kernels.rans.tables import Tables
from kvstore.basis import CLASSES_PER_OCTAVE, DROPPED, MAX_LEVEL, MAX_SHIFT, Basis, PresetTables
from kvstore.errors import BadProfile
from kvstore.frequencies import CLASSES, Counts, class_of
from kvstore.presets import ProfilePreset, Weighting, step_of
from kvstore.profile import Profile
from kvstore.profile_id import profile_id
from kvstore.sections import TOKENS_PER_SECTION

_FEWEST_NONZERO = 0.06
"""Channels with fewer non-zero numbers are dropped: about as good at the same size, and a third fewer to decode."""

_WIDEST = 4.0  # steps of standard deviation that a channel without low bits may have
_WIDEST_CLASS = CLASSES - 1 - CLASSES_PER_OCTAVE * MAX_LEVEL
_FLOOR = 1e-3  # of the mean, added to sensitivities, so that none is nothing
_RIDGE = 1000.0
_LEVEL_OFFSET = 0.5  # above the mean sensitivity half a level


@dataclass(frozen=True, eq=False)
class CalibrationSample:
    """One chunk. kv: (2, layers, tokens, kv_heads, head_dim), keys un-rotated, then values. gradients: (draws, …) of
    the same shape, of the log-probability of text drawn from the model behind the chunk, divided by the root of its
    tokens."""

    kv: Tensor
    gradients: Tensor


@dataclass(frozen=True, eq=False)
class _Section:
    """One layer's keys or values over all samples, of `heads` heads.

    values: (tokens, width); both: (tokens, 2 * width), keys beside values; gradients: (draws, tokens, width).
    """

    values: Tensor
    both: Tensor
    gradients: Tensor
    heads: int


@dataclass(frozen=True, eq=False)
class _Fitted:
    """mean, weights, vectors, detector and bias as in `Basis`; levels: (tokens,) float32."""

    mean: Tensor
    weights: Tensor
    vectors: Tensor | None
    detector: Tensor
    bias: Tensor
    levels: Tensor


@dataclass(frozen=True, eq=False)
class _Channels:
    """What a preset says of a section's channels, each (channels,)."""

    tables: Tensor
    shifts: Tensor
    anchored: Tensor


def calibrate(
    samples: Sequence[CalibrationSample],
    presets: Sequence[ProfilePreset],
    fingerprints: Sequence[str],
    source: Mapping[str, str],
) -> Profile:
    """A profile that holds `presets`. Raises: BadProfile without samples or presets."""
    if not samples or not presets:
        raise BadProfile("A profile needs text and presets to be calibrated on.")
    _, layers, _, heads, dim = samples[0].kv.shape
    shape = (layers, 2, heads, dim)
    by_basis = {preset.basis: preset for preset in presets}
    bases = {name: _empty_basis(preset, shape) for name, preset in by_basis.items()}
    channels = {preset.name: _Tables(shape) for preset in presets}
    counts = {preset.name: Counts() for preset in presets}
    for layer, kind, section in _sections(samples, layers):
        for name, first in by_basis.items():
            fitted = _fit(section, first)
            _fill(bases[name], (layer, kind), fitted)
            coefficients = _coefficients(section, fitted)
            for preset in (preset for preset in presets if preset.basis == name):
                steps = coefficients / step_of(preset, layer, layers)
                counted = _count(steps, fitted.levels, preset, counts[preset.name])
                channels[preset.name].fill((layer, kind), counted)
    tables = {preset.name: channels[preset.name].of(preset, counts[preset.name].tables()) for preset in presets}
    identity = profile_id(fingerprints, bases, tables)
    return Profile(identity, tuple(fingerprints), bases, tables, dict(source))


def _sections(samples: Sequence[CalibrationSample], layers: int) -> Iterator[tuple[int, int, _Section]]:
    """Of each layer its keys, kind 0, and its values, kind 1."""
    for layer in range(layers):
        pair = [torch.cat([sample.kv[kind, layer].float().flatten(1) for sample in samples]) for kind in (0, 1)]
        both = torch.cat(pair, 1)
        for kind in (0, 1):
            gradients = torch.cat([sample.gradients[:, kind, layer].float().flatten(2) for sample in samples], 1)
            yield layer, kind, _Section(pair[kind], both, gradients, samples[0].kv.shape[3])


def _fit(section: _Section, preset: ProfilePreset) -> _Fitted:
    mean = section.values.mean(0)
    detector, bias = _detector(section)
    levels = torch.zeros(len(section.values))
    if preset.levels:
        levels = (section.both @ detector + bias).round().clamp(0, MAX_LEVEL)
    weights = _weights(section, preset.weighting, levels)
    vectors = None
    if preset.transform:
        centred = _by_head((section.values - mean) * weights, section.heads).double()
        _, columns = torch.linalg.eigh(centred.transpose(1, 2) @ centred)
        vectors = columns.flip(2).transpose(1, 2).to(torch.float16)
    return _Fitted(mean, weights, vectors, detector, bias, levels)


def _detector(section: _Section) -> tuple[Tensor, Tensor]:
    """Ridge regression of a token's log sensitivity on its keys and values, in levels: halved steps."""
    squares = section.gradients.square().sum(-1).mean(0)
    target = (squares + _FLOOR * squares.mean() + torch.finfo(torch.float32).tiny).log() / (2 * math.log(2))
    middle, spread = section.both.mean(0), _positive(section.both.std(0))
    features = ((section.both - middle) / spread).double()
    normal = features.T @ features + _RIDGE * torch.eye(features.shape[1], dtype=torch.float64)
    slopes = torch.linalg.solve(normal, features.T @ (target - target.mean()).double()).float() / spread
    return slopes, _LEVEL_OFFSET - (slopes * middle).sum()


def _weights(section: _Section, weighting: Weighting, levels: Tensor) -> Tensor:
    """(width,) one over the step that each channel deserves, in units of the preset's step."""
    spread = section.values.std(0)
    if weighting is Weighting.DEVIATION:
        return 1 / _positive(spread)
    if weighting is Weighting.EVEN:
        return (1 / _positive(spread.square().mean().sqrt()[None])).expand(len(spread)).clone()
    return _positive((section.gradients * 0.5 ** levels[:, None]).square().mean((0, 1)).sqrt())


def _positive(scale: Tensor) -> Tensor:
    """Scales that may be divided by: a constant channel's is a thousandth of the mean."""
    return (scale.square() + _FLOOR * scale.square().mean()).sqrt().clamp_min(1e-12)


def _coefficients(section: _Section, basis: _Fitted) -> Tensor:
    weighted = (section.values - basis.mean) * basis.weights
    if basis.vectors is None:
        return weighted
    turned = _by_head(weighted, section.heads) @ basis.vectors.float().transpose(1, 2)
    return turned.transpose(0, 1).flatten(1)


def _by_head(rows: Tensor, heads: int) -> Tensor:
    """(tokens, width) as (heads, tokens, head_dim)."""
    return rows.view(len(rows), heads, -1).transpose(0, 1)


def _count(steps: Tensor, levels: Tensor, preset: ProfilePreset, counts: Counts) -> _Channels:
    """Choose each channel's table, shift and whether it is anchored, and count its symbols."""
    numbers = (steps * 2 ** levels[:, None]).round()
    anchored = torch.zeros(steps.shape[1], dtype=torch.bool)
    if preset.anchor_tokens:
        differences = _differences(numbers, preset.anchor_tokens)
        smaller = differences.abs().mean(0) < numbers.abs().mean(0)
        anchored = torch.ones_like(smaller) if preset.always_anchored else smaller
        numbers = torch.where(anchored, differences, numbers)
        steps = torch.where(anchored, _differences(steps, preset.anchor_tokens), steps)
    # For a Gaussian this is the standard deviation; it minds single large values less.
    spread = steps.abs().mean(0) * math.sqrt(math.pi / 2)
    shifts = (spread / _WIDEST).clamp_min(1e-30).log2().ceil().clamp(0, MAX_SHIFT)
    shifts = torch.where(anchored, 0, shifts)
    tables = class_of(spread / 2**shifts).clamp_max(_WIDEST_CLASS)
    dropped = (numbers != 0).float().mean(0) < _FEWEST_NONZERO
    kept = ~dropped
    high = torch.div(numbers[:, kept], 2 ** shifts[kept], rounding_mode="floor")
    counts.add(tables[kept] + CLASSES_PER_OCTAVE * levels[:, None].long(), high)
    return _Channels(torch.where(dropped, DROPPED, tables).to(torch.uint8), shifts.to(torch.uint8), anchored)


def _differences(numbers: Tensor, group: int) -> Tensor:
    tokens = torch.arange(len(numbers))
    anchors = tokens - tokens % TOKENS_PER_SECTION % group
    return torch.where((anchors == tokens)[:, None], numbers, numbers - numbers[anchors])


def _empty_basis(preset: ProfilePreset, shape: tuple[int, int, int, int]) -> Basis:
    """Room for a basis of (layers, 2, heads, head_dim).

    What is kept is written into room made beforehand: small tensors kept as they come, between large ones that go,
    would leave memory in pieces too small for the next large ones, gigabytes of them.
    """
    layers, kinds, heads, dim = shape
    width = heads * dim
    return Basis(
        means=torch.empty(layers, kinds, width),
        weights=torch.empty(layers, kinds, width),
        vectors=torch.empty(*shape, dim, dtype=torch.float16) if preset.transform else None,
        detector=torch.empty(layers, kinds, 2 * width) if preset.levels else None,
        bias=torch.empty(layers, kinds) if preset.levels else None,
    )


def _fill(basis: Basis, at: tuple[int, int], fitted: _Fitted) -> None:
    basis.means[at], basis.weights[at] = fitted.mean, fitted.weights
    if basis.vectors is not None and fitted.vectors is not None:
        basis.vectors[at] = fitted.vectors
    if basis.detector is not None and basis.bias is not None:
        basis.detector[at], basis.bias[at] = fitted.detector, fitted.bias


class _Tables:
    """Room for a preset's channels."""

    def __init__(self, shape: tuple[int, int, int, int]) -> None:
        layers, kinds, heads, dim = shape
        self._tables = np.empty((layers, kinds, heads * dim), np.uint8)
        self._shifts = np.empty_like(self._tables)
        self._anchored = np.empty(self._tables.shape, np.bool_)

    def fill(self, at: tuple[int, int], channels: _Channels) -> None:
        self._tables[at], self._shifts[at], self._anchored[at] = channels.tables, channels.shifts, channels.anchored

    def of(self, preset: ProfilePreset, frequencies: Tables) -> PresetTables:
        return PresetTables(preset, self._tables, self._shifts, self._anchored, frequencies)


__all__ = ["CalibrationSample", "calibrate"]
