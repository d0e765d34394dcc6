"""rANS on the CPU, compiled by Numba. It runs without the interpreter lock, so that sections go in parallel.

The functions are compiled when this module is first imported on a machine, and kept on disk: never at a question.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.errors import BadShape, BadStream
from kernels.rans.encoded import Encoded
from kernels.rans.tables import INVERSE_BITS, LOWEST_STATE, MAX_LANES, SCALE, SCALE_BITS, Tables, lanes_of

_U32 = np.uint32
_MASK = _U32(SCALE - 1)
_BITS = _U32(SCALE_BITS)
_LOWEST = _U32(LOWEST_STATE)
_WORD = _U32(16)
_SYMBOL = _U32(24)
_TOP = _U32(32 - SCALE_BITS)
_INVERSE = np.uint64(INVERSE_BITS)


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
        np.ascontiguousarray(symbols), planes, bumps, tables.movable, tables.ranges, tables.inverses, states, words
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


@njit(nogil=True, inline="always")
def _leave(states, lane, entry, words, at):  # type: ignore[no-untyped-def]
    """Make room in a state for a symbol. Where it has room, the word written is written over by the next."""
    state = states[lane]
    words[at - 1] = np.uint16(state & _U32(0xFFFF))
    full = (state >> _TOP) >= (entry & _MASK)
    states[lane] = (state >> _WORD) if full else state
    return at - np.int64(full)


@njit(nogil=True, inline="always")
def _enter(state, entry, inverse):  # type: ignore[no-untyped-def]
    """The state with a symbol more."""
    quotient = _U32((np.uint64(state) * inverse) >> _INVERSE)
    return _U32((quotient << _BITS) + (state - quotient * (entry & _MASK)) + (entry >> _BITS))


@njit(
    "int64(uint8[:,::1], uint8[::1], uint8[::1], int64, uint32[:,::1], uint64[:,::1], uint32[::1], uint16[::1])",
    nogil=True,
    cache=True,
)
def _encode(symbols, planes, bumps, movable, ranges, inverses, states, words):  # type: ignore[no-untyped-def]
    tokens, lanes, at = len(bumps), len(states), len(words)
    if not _there(planes, bumps, movable, len(ranges)):
        return -1
    entries, inverse = np.empty(MAX_LANES, np.uint32), np.empty(MAX_LANES, np.uint64)
    still = np.zeros(tokens, np.uint8)
    absent = False
    # Groups of 16 tokens a step at a time, as in decoding; there is always room for one more word.
    grouped = tokens // MAX_LANES * MAX_LANES if lanes == MAX_LANES else 0
    for plane in range(len(planes) - 1, -1, -1):
        table = planes[plane]
        moved = bumps if table < movable else still
        for token in range(tokens - 1, grouped - 1, -1):
            lane = token % lanes
            row, symbol = table + moved[token], symbols[plane, token]
            entry = ranges[row, symbol]
            absent |= entry & _MASK == 0
            at = _leave(states, lane, entry, words, at)
            states[lane] = _enter(states[lane], entry, inverses[row, symbol])
        for first in range(grouped - MAX_LANES, -1, -MAX_LANES):
            for lane in range(MAX_LANES):
                row, symbol = table + moved[first + lane], symbols[plane, first + lane]
                entries[lane], inverse[lane] = ranges[row, symbol], inverses[row, symbol]
            for lane in range(MAX_LANES - 1, -1, -1):
                at = _leave(states, lane, entries[lane], words, at)
            for lane in range(MAX_LANES):
                absent |= entries[lane] & _MASK == 0
                states[lane] = _enter(states[lane], entries[lane], inverse[lane])
    return -1 if absent else at


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
