"""The measured parts of a profile."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from kernels.rans.tables import Tables
from kvstore.presets import ProfilePreset

DROPPED = 255
CLASSES_PER_OCTAVE = 2
MAX_LEVEL = 3
MAX_SHIFT = 7


@dataclass(frozen=True, eq=False)
class Basis:
    """What presets of one weighting share; kind 0 is keys, 1 values, and `width` is kv_heads * head_dim.

    means, weights: (layers, 2, width) float32.
    vectors: (layers, 2, kv_heads, head_dim, head_dim) float16, of each head one component a row, by falling variance;
        None where channels are quantised as they are.
    detector, bias: (layers, 2, 2 * width) and (layers, 2) float32, which give a token's level as
        round(keys and values @ detector + bias) within 0..3; None where all tokens have level 0.
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


__all__ = ["CLASSES_PER_OCTAVE", "DROPPED", "MAX_LEVEL", "MAX_SHIFT", "Basis", "PresetTables"]
