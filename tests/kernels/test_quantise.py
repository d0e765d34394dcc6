"""Rounding to symbols agrees with plain NumPy, whatever the channels look like."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rans_samples import some_tables

from kernels.quantise import quantise
from kernels.rans.tables import Tables

ZERO = 128


def make_tables(random):
    """Tables that lack symbols for numbers of 40 and more; symbol 0 marks exceptions."""
    whole = some_tables(random)
    frequencies = whole.frequencies.copy()
    far = np.abs(np.arange(256) - ZERO) >= 40
    far[0] = False
    taken = frequencies[:, far].sum(1)
    frequencies[:, far] = 0
    frequencies[:, ZERO] += taken
    return Tables(frequencies, whole.movable)


def plain_numbers(steps, gains, anchored, group):
    """(channels, tokens) whole numbers as docs/codec.md defines them."""
    exact = (steps * gains).astype(np.float64)
    numbers = np.rint(np.clip(exact, -(2.0**29), 2.0**29)).astype(np.int64)
    if group:
        tokens = np.arange(numbers.shape[1])
        follows = tokens % group != 0
        differences = numbers - numbers[:, tokens - tokens % group]
        numbers[np.ix_(anchored, follows)] = differences[np.ix_(anchored, follows)]
    return numbers


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(1, 6),
    st.sampled_from([0, 4, 10]),
    st.sampled_from([0.1, 3.0, 200.0, 1e9, 1e30]),
    st.integers(0, 10**6),
)
def test_numbers_come_back_from_symbols_and_exceptions(tokens, channels, group, size, seed):
    rng = np.random.default_rng(seed)
    tables = make_tables(rng)
    steps = (rng.normal(size=(channels, tokens)) * size).astype(np.float32)
    levels = rng.integers(0, 2, tokens)
    gains, bumps = np.exp2(levels).astype(np.float32), levels.astype(np.uint8)
    anchored = rng.integers(0, 2, channels).astype(bool) & (group > 0)
    shifts = np.where(anchored, 0, rng.integers(0, 4, channels)).astype(np.uint8)
    planes = rng.integers(0, tables.movable - 1, int((1 + (shifts > 0)).sum())).astype(np.uint8)

    symbols, exceptions = quantise(steps, gains, bumps, shifts, anchored, planes, tables, group)

    values = symbols.astype(np.int64) - ZERO
    values[exceptions[:, 0], exceptions[:, 1]] = exceptions[:, 2]
    numbers, plane = np.empty((channels, tokens), np.int64), 0
    for channel in range(channels):
        numbers[channel] = values[plane] << shifts[channel]
        plane += 1
        if shifts[channel]:
            numbers[channel] += values[plane]
            plane += 1
    assert plane == len(symbols)
    assert np.array_equal(numbers, plain_numbers(steps, gains, anchored, group))


def test_only_what_has_no_symbol_is_an_exception():
    tables = make_tables(np.random.default_rng(0))
    have = np.flatnonzero(tables.frequencies[0])
    steps = np.arange(-300, 300, dtype=np.float32)[None]
    ones, zeros = np.ones(600, np.float32), np.zeros(600, np.uint8)
    symbols, exceptions = quantise(
        steps, ones, zeros, np.zeros(1, np.uint8), np.zeros(1, bool), np.zeros(1, np.uint8), tables, 0
    )
    coded = set((symbols[0][symbols[0] > 0].astype(int) - ZERO).tolist())
    assert coded == {int(symbol) - ZERO for symbol in have if symbol > 0}
    assert set(exceptions[:, 2].tolist()) == set(range(-300, 300)) - coded
