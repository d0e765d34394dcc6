"""Which layers the question's attention is summed over: candidates across the depth, asked about on a few questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean as average
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import AutoConfig

from app.core.settings import Settings
from benchmarks.examiner import Examined
from benchmarks.interval import interval_of
from benchmarks.variant import Variant
from generator.conditioning import Conditioning
from generator.model_source import resolve_model

POLICY = "impact@.05"
"""A small amount, where the choice matters most."""
_DEPTHS = (0.25, 0.4, 0.55, 0.7, 0.85)
_WINDOW = 3


@dataclass(frozen=True)
class Calibrated:
    """`layers`: none where nothing was better than the engine's own beyond noise. `table`: what was found of each."""

    layers: tuple[int, ...]
    table: tuple[Mapping[str, Any], ...]


NOT_CALIBRATED = Calibrated((), ())


def model_depth(settings: Settings) -> int:
    """Layers of the configured model."""
    return int(AutoConfig.from_pretrained(str(resolve_model(settings)), local_files_only=True).num_hidden_layers)


def candidate_layers(n_layers: int, conditioning: Conditioning) -> list[Variant]:
    """The engine's own layers first, then windows of three across the depth, and the last layer."""
    starts = [min(int(depth * n_layers), max(n_layers - _WINDOW, 0)) for depth in _DEPTHS]
    windows = [tuple(range(start, min(start + _WINDOW, n_layers))) for start in starts]
    return [Variant(POLICY, conditioning, layers) for layers in dict.fromkeys([(), *windows, (n_layers - 1,)])]


def calibrated(sets: Sequence[Sequence[Examined]], variants: Sequence[Variant]) -> Calibrated:
    """The candidate of least mean KL divergence, each set weighing the same, where it is below the first one's for all
    of the 95 % interval of their ratio over questions; else the first, which names no layers. `sets` may be empty."""
    own = variants[0]
    rows = []
    for found in sets:
        scale = average(each.verdicts[own].kl_mean for each in found) or 1.0
        rows += [[each.verdicts[variant].kl_mean / scale for variant in variants] for each in found]
    table = []
    better: list[tuple[float, tuple[int, ...]]] = []
    for place, variant in enumerate(variants):
        ratio = interval_of([[row[place], row[0]] for row in rows], _ratio)
        table.append({"layers": list(variant.layers), "kl_mean_to_own": ratio.to_json()})
        if ratio.value is not None and ratio.high is not None and ratio.high < 1:
            better.append((ratio.value, variant.layers))
    return Calibrated(min(better)[1] if better else (), tuple(table))


def _ratio(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    both = pairs.mean(axis=-2)
    return np.asarray(both[..., 0] / both[..., 1])
