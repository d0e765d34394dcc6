"""Symbol frequencies of a profile, counted while it is calibrated.

Channels are coded with one of a few tables, by how many steps wide they are: half an octave a table.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kernels.rans.tables import SCALE, SYMBOLS, Tables
from kvstore.basis import CLASSES_PER_OCTAVE, MAX_SHIFT

_NARROWEST = 2.0**-4  # steps of standard deviation
CLASSES = 22
_ZERO = SYMBOLS // 2
_PRIOR = 50.0  # symbols; only tables that hardly anything was counted for mind
_RAREST = 6e-6  # a rarer symbol costs less as an exception, now and then, than as a range of the table, always


def class_of(spread: Tensor) -> Tensor:
    """The table of channels with these standard deviations in steps, int64."""
    return (CLASSES_PER_OCTAVE * (spread / _NARROWEST).clamp_min(1).log2()).round().long()


class Counts:
    """How often each symbol came in each class."""

    def __init__(self) -> None:
        self._counts = torch.zeros(CLASSES * SYMBOLS, dtype=torch.float64)

    def add(self, classes: Tensor, numbers: Tensor) -> None:
        """classes, numbers: (tokens, channels), the class already moved by the token's level."""
        symbols = numbers.clamp(1 - _ZERO, _ZERO - 1).long() + _ZERO
        index = (classes.clamp_max(CLASSES - 1) * SYMBOLS + symbols).reshape(-1)
        self._counts += torch.bincount(index, minlength=CLASSES * SYMBOLS)

    def tables(self) -> Tables:
        """One table a class, then one for each number of low bits."""
        counts = self._counts.view(CLASSES, SYMBOLS).numpy()
        values = np.arange(SYMBOLS) - _ZERO
        rows = []
        for index, row in enumerate(counts):
            spread = _NARROWEST * 2 ** (index / CLASSES_PER_OCTAVE)
            laplace = np.exp(-np.abs(values) * math.sqrt(2) / max(spread, 0.2))
            rows.append(_integers((row + _PRIOR * laplace / laplace.sum()) / (row.sum() + _PRIOR)))
        for bits in range(1, MAX_SHIFT + 1):
            even = np.zeros(SYMBOLS, np.int64)
            even[_ZERO : _ZERO + (1 << bits)] = SCALE >> bits
            rows.append(even)
        return Tables(np.array(rows, np.uint16), movable=CLASSES)


def _integers(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Frequencies that sum to 4096; symbol 0, which marks exceptions, always has one."""
    wanted = probabilities.copy()
    wanted[0] = 1 / SCALE
    frequencies = np.where(wanted >= _RAREST, np.maximum(np.round(wanted * SCALE), 1), 0).astype(np.int64)
    while (excess := int(frequencies.sum()) - SCALE) != 0:
        # Taken from or given to the most frequent, where it costs least.
        most = int(frequencies.argmax())
        second = int(np.partition(frequencies, -2)[-2])
        step = min(excess, max(int(frequencies[most]) - second, 1)) if excess > 0 else excess
        frequencies[most] -= step
    return frequencies


__all__ = ["CLASSES", "Counts", "class_of"]
