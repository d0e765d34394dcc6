"""rANS streams to test with, whole and damaged."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from hypothesis import strategies as st

from kernels.rans.encoded import Encoded
from kernels.rans.reference import encode
from kernels.rans.tables import SCALE, Tables

TOKENS = st.sampled_from([1, 15, 16, 17, 255, 256]) | st.integers(1, 256)
PLANES = st.integers(1, 24)
SEEDS = st.integers(0, 2**32 - 1)
MOVABLE = 4


def some_tables(random):
    """From uniform to nearly constant, every symbol with a frequency; the first four are movable."""
    sharpness = np.array([0.0, 0.05, 0.5, 8.0, 0.0, 0.3])[:, None]
    weights = np.exp(-sharpness * np.abs(np.arange(256) - 128 + random.integers(-40, 40, sharpness.shape)))
    frequencies = 1 + np.floor(weights / weights.sum(1, keepdims=True) * (SCALE - 256)).astype(np.int64)
    frequencies[np.arange(len(frequencies)), frequencies.argmax(1)] += SCALE - frequencies.sum(1)
    return Tables(frequencies.astype(np.uint16), MOVABLE)


@dataclass(frozen=True, eq=False)
class Sample:
    """A section and all it takes to code it."""

    symbols: torch.Tensor
    planes: torch.Tensor
    bumps: torch.Tensor
    tables: Tables

    @property
    def encoded(self) -> Encoded:
        return encode(self.symbols, self.planes, self.bumps, self.tables)


def a_sample(planes=8, tokens=256, seed=3):
    """Symbols drawn from their tables, but some planes are constant and some drawn from elsewhere."""
    random = np.random.default_rng(seed)
    tables = some_tables(random)
    table_of = random.choice([0, 1, 2, 4, 5], planes).astype(np.uint8)
    bumps = random.integers(0, 2, tokens).astype(np.uint8)
    symbols = np.stack([random.choice(256, tokens, p=tables.frequencies[table] / SCALE) for table in table_of])
    symbols[::5] = random.integers(0, 256)
    symbols[3::7] = random.integers(0, 256, symbols[3::7].shape)
    return Sample(*map(torch.from_numpy, (symbols.astype(np.uint8), table_of, bumps)), tables)


def with_changed(encoded, at, bits):
    """Some bits of one word changed or, where there is no such word, of one state. It may still decode."""
    if at < len(encoded.words):
        return replace(encoded, words=_with_changed(encoded.words, at, bits))
    return replace(encoded, states=_with_changed(encoded.states, at % len(encoded.states), bits))


def _with_changed(array, at, bits):
    changed = array.copy()
    changed[at] ^= bits
    return changed


# What no decoder may take for whole.
DAMAGE = {
    "the last word missing": lambda e: replace(e, words=e.words[:-1]),
    "half of the words missing": lambda e: replace(e, words=e.words[: len(e.words) // 2]),
    "no words": lambda e: replace(e, words=e.words[:0]),
    "a word too many": lambda e: replace(e, words=np.append(e.words, np.uint16(0))),
    "states of nothing": lambda e: replace(e, states=np.zeros_like(e.states)),
    "the largest states": lambda e: replace(e, states=np.full_like(e.states, 2**32 - 1)),
}
