"""rANS on the CPU, compiled by Numba. It runs without the interpreter lock, so that sections go in parallel.

The functions are compiled when this module is first imported on a machine, and kept on disk: never at a question.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.errors import BadShape, BadStream
from kernels.rans.encoded import Encoded
from kernels.rans.tables import LOWEST_STATE, MAX_LANES, SCALE, SCALE_BITS, Tables, lanes_of

_U32 = np.uint32
_MASK = _U32(SCALE - 1)
_BITS = _U32(SCALE_BITS)
_LOWEST = _U32(LOWEST_STATE)
_WORD = _U32(16)
_SYMBOL = _U32(24)
_TOP = _U32(32 - SCALE_BITS)


def encode(symbols: NDArray[np.uint8], planes: NDArray[np.uint8], bumps: NDArray[np.uint8], tables: Tables) -> Encoded:
    """Code a section.

    Args:
        symbols: (planes, tokens), each of a frequency above 0 in its table.
        planes: (planes,) the table of each plane; bumps: (tokens,), see `Tables`.
    Raises: BadShape.
    """
    if symbols.shape != (len(planes), len(bumps)):
        raise BadShape(f"{symbols.shape} symbols are not of {len(planes)} planes and {len(bumps)} tokens.")
    states = np.full(lanes_of(len(bumps)), LOWEST_STATE, np.uint32)
    words = np.empty(symbols.size, np.uint16)
    first = _encode(
        np.ascontiguousarray(symbols), planes, bumps, tables.movable, tables.frequencies, tables.starts, states, words
    )
    if first < 0:
        tables.check(planes, bumps)
        raise BadShape("A symbol has no frequency in its table.")
    return Encoded(states, words[first:])


def decode(
    encoded: Encoded,
    planes: NDArray[np.uint8],
    bumps: NDArray[np.uint8],
    tables: Tables,
    out: NDArray[np.uint8],
    first: int = 0,
) -> None:
    """Decode a section into columns `first` and on of `out`, a contiguous (planes, tokens) matrix.

    Raises: BadShape, BadStream.
    """
    if len(out) != len(planes) or out.shape[1] < first + len(bumps) or len(encoded.states) != lanes_of(len(bumps)):
        raise BadShape(f"{out.shape} has no room for {len(planes)} planes of {len(bumps)} tokens from {first} on.")
    if not _decode(encoded.words, planes, bumps, tables.movable, tables.slots, encoded.states, out, first):
        tables.check(planes, bumps)
        raise BadStream("A section's symbols do not decode.")


@njit(nogil=True, inline="always")
def _there(planes, bumps, movable, count):  # type: ignore[no-untyped-def]
    """Whether every table that the planes name, moved by the largest bump, is one there is."""
    largest = np.uint8(0)
    for bump in bumps:
        if bump > largest:
            largest = bump
    there = True
    for plane in planes:
        there &= plane < count and (plane >= movable or plane + largest < movable)
    return there


@njit(
    "int64(uint8[:,::1], uint8[::1], uint8[::1], int64, uint16[:,::1], uint16[:,::1], uint32[::1], uint16[::1])",
    nogil=True,
    cache=True,
)
def _encode(symbols, planes, bumps, movable, frequencies, starts, states, words):  # type: ignore[no-untyped-def]
    at = len(words)
    lanes = len(states)
    if not _there(planes, bumps, movable, len(frequencies)):
        return -1
    for plane in range(len(planes) - 1, -1, -1):
        lane = (len(bumps) - 1) % lanes if lanes else 0
        for token in range(len(bumps) - 1, -1, -1):
            table = planes[plane] + (bumps[token] if planes[plane] < movable else 0)
            symbol = symbols[plane, token]
            frequency = _U32(frequencies[table, symbol])
            if frequency == 0:
                return -1
            state = states[lane]
            if (state >> _TOP) >= frequency:
                at -= 1
                words[at] = np.uint16(state & _U32(0xFFFF))
                state >>= _WORD
            quotient = state // frequency
            states[lane] = _U32((quotient << _BITS) + (state - quotient * frequency) + _U32(starts[table, symbol]))
            lane = lane - 1 if lane else lanes - 1
    return at


@njit(
    "boolean(Array(uint16, 1, 'C', readonly=True), uint8[::1], uint8[::1], int64, uint32[::1],"
    " Array(uint32, 1, 'C', readonly=True), uint8[:,::1], int64)",
    nogil=True,
    cache=True,
)
def _decode(  # type: ignore[no-untyped-def]  # noqa: C901 - one loop nest: calls in it cost a third of its speed
    words, planes, bumps, movable, slots, begin, out, column
):
    if not _there(planes, bumps, movable, len(slots) >> SCALE_BITS):
        return False
    states = begin.copy()
    entries = np.empty(MAX_LANES, np.uint32)
    tokens, lanes = len(bumps), len(states)
    still = np.zeros(tokens, np.uint8)
    at, have = np.uint64(0), np.uint64(len(words))
    # Whole groups of 16 tokens are decoded a step at a time, so that the lanes' look-ups do not wait for each other.
    grouped = tokens // MAX_LANES * MAX_LANES if lanes == MAX_LANES else 0
    for plane in range(len(planes)):
        base = _U32(planes[plane]) << _BITS
        moved = bumps if planes[plane] < movable else still
        row = out[plane, column:]
        quick = grouped if at + np.uint64(grouped) < have else 0
        for first in range(0, quick, MAX_LANES):
            for lane in range(MAX_LANES):
                entries[lane] = slots[base + (_U32(moved[first + lane]) << _BITS) + (states[lane] & _MASK)]
            for lane in range(MAX_LANES):
                entry = entries[lane]
                states[lane] = (entry & _MASK) * (states[lane] >> _BITS) + ((entry >> _BITS) & _MASK)
            for lane in range(MAX_LANES):
                row[first + lane] = np.uint8(entries[lane] >> _SYMBOL)
            for lane in range(MAX_LANES):
                state = states[lane]
                word = _U32(words[at])
                low = state < _LOWEST
                states[lane] = ((state << _WORD) | word) if low else state
                at += np.uint64(low)
        lane = 0
        for token in range(quick, tokens):
            entry = slots[base + (_U32(moved[token]) << _BITS) + (states[lane] & _MASK)]
            state = (entry & _MASK) * (states[lane] >> _BITS) + ((entry >> _BITS) & _MASK)
            row[token] = np.uint8(entry >> _SYMBOL)
            if state < _LOWEST:
                if at >= have:
                    return False
                state = (state << _WORD) | _U32(words[at])
                at += np.uint64(1)
            states[lane] = state
            lane = lane + 1 if lane + 1 < lanes else 0
    whole = at == have
    for state in states:
        whole &= state == _LOWEST
    return whole


__all__ = ["decode", "encode"]
