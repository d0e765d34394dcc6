"""Whole numbers of steps as symbols: the CPU's part before the entropy coder, compiled by Numba.

A channel's number n goes out on one plane, as the symbol n + 128; or, with a shift s, on two: n >> s, and its low s
bits. What has no symbol in its plane's table is an exception: symbol 0, and the number beside it.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.rans.tables import SYMBOLS, Tables

_ZERO = SYMBOLS // 2
_USUAL_SHARE = 64  # room for exceptions, of all symbols
_NO_EXCEPTIONS = np.empty((0, 3), np.int32)
_LIMIT = np.float32(1 << 29)  # so that differences fit 32 bits


def quantise(
    steps: NDArray[np.float32],
    gains: NDArray[np.float32],
    bumps: NDArray[np.uint8],
    shifts: NDArray[np.uint8],
    anchored: NDArray[np.bool_],
    planes: NDArray[np.uint8],
    tables: Tables,
    group: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Round to symbols.

    Args:
        steps: (channels, tokens) contiguous, in steps. gains, bumps: (tokens,), by how much finer each token's steps
            are, and how many tables on it is coded (see `Tables`).
        shifts, anchored: (channels,). An anchored channel has no shift; its tokens are coded as the difference to the
            first of each group of `group` tokens.
        planes: the table of each plane.
    Returns: (planes, tokens) symbols; (exceptions, 3) plane, token and number, by plane and token.
    """
    symbols = np.empty((len(planes), steps.shape[1]), np.uint8)
    found, exceptions = 1 + symbols.size // _USUAL_SHARE, _NO_EXCEPTIONS
    while found > len(exceptions):
        exceptions = np.empty((found, 3), np.int32)
        found = _quantise(
            steps,
            gains,
            bumps,
            shifts,
            anchored,
            planes,
            tables.frequencies,
            tables.movable,
            group,
            symbols,
            exceptions,
        )
    return symbols, exceptions[:found].copy()


@njit(nogil=True, inline="always")
def _round(steps, gains, group, numbers):  # type: ignore[no-untyped-def]
    """Whole numbers of one channel's steps, or with a group what they differ by from the first of theirs."""
    for token in range(len(numbers)):
        exact = steps[token] * gains[token]
        numbers[token] = np.int32(np.rint(min(max(exact, -_LIMIT), _LIMIT)))
    if group:
        for token in range(len(numbers) - 1, -1, -1):
            if token % group:
                numbers[token] -= numbers[token - token % group]


@njit(
    "int64(float32[:,::1], float32[::1], uint8[::1], uint8[::1], boolean[::1], uint8[::1], uint16[:,::1], int64, int64,"
    " uint8[:,::1], int32[:,::1])",
    nogil=True,
    cache=True,
)
def _quantise(  # type: ignore[no-untyped-def]
    steps, gains, bumps, shifts, anchored, planes, frequencies, movable, group, symbols, exceptions
):
    channels, tokens = steps.shape
    numbers = np.empty(tokens, np.int32)
    found = plane = 0
    for channel in range(channels):
        shift = np.int32(shifts[channel])
        _round(steps[channel], gains, group if anchored[channel] else 0, numbers)
        moved = planes[plane] < movable
        for token in range(tokens):
            number = numbers[token] >> shift
            table = planes[plane] + (bumps[token] if moved else 0)
            if -_ZERO < number < _ZERO and frequencies[table, number + _ZERO]:
                symbols[plane, token] = np.uint8(number + _ZERO)
            else:
                symbols[plane, token] = 0
                if found < len(exceptions):
                    exceptions[found, 0], exceptions[found, 1], exceptions[found, 2] = plane, token, number
                found += 1
        plane += 1
        if shift:
            for token in range(tokens):
                symbols[plane, token] = np.uint8((numbers[token] & ((1 << shift) - 1)) + _ZERO)
            plane += 1
    return found


__all__ = ["quantise"]
