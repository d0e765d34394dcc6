"""A section's symbols back to its values: steps, exceptions, anchors and the transform, compiled by Numba.

It runs without the interpreter lock and starts no threads of its own, so that sections go in parallel.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.errors import BadShape, BadStream
from kernels.rans.tables import SYMBOLS

_ZERO = SYMBOLS // 2


@dataclass(frozen=True, eq=False)
class Synthesis:
    """What sections of one layer's keys or values are decoded with.

    planes: (planes,) uint8, the table of each. rows: (planes, head_dim) float32, what one unit of each adds to its
    head's values; head_dim is a multiple of 4. heads: (heads + 1,) int64, where each head's planes begin, and the last
    one's end. mean: (heads * head_dim,) float32, what that is added to. anchored: (planes,) bool, coded as the
    difference to the first of each group of `group` tokens; group 0: none is.
    Raises: BadShape.
    """

    planes: NDArray[np.uint8]
    rows: NDArray[np.float32]
    heads: NDArray[np.int64]
    mean: NDArray[np.float32]
    anchored: NDArray[np.bool_]
    group: int

    def __post_init__(self) -> None:
        planes, dim = self.rows.shape
        heads = len(self.heads) - 1
        if dim % 4 or len(self.mean) != heads * dim or len(self.planes) != planes or len(self.anchored) != planes:
            raise BadShape(f"{planes} rows of {dim} do not fit {heads} heads and {len(self.mean)} values a token.")
        if self.heads[0] != 0 or self.heads[-1] != planes or (np.diff(self.heads) < 0).any():
            raise BadShape(f"{self.heads.tolist()} do not divide {planes} planes into heads.")


def synthesise(
    symbols: NDArray[np.uint8], scales: NDArray[np.float32], exceptions: NDArray[np.int32], synthesis: Synthesis
) -> NDArray[np.float32]:
    """(tokens, heads * head_dim) values of a section.

    Args:
        symbols: (planes, tokens). scales: (tokens,), what all numbers of a token are multiplied by.
        exceptions: (exceptions, 3) plane, token and number, in place of what their symbols say.
    Raises: BadShape; BadStream where an exception has no place.
    """
    if symbols.shape != (len(synthesis.planes), len(scales)):
        raise BadShape(f"{symbols.shape} symbols are not of {len(synthesis.planes)} planes and {len(scales)} tokens.")
    out = np.empty((len(scales), len(synthesis.mean)), np.float32)
    if not _restore(
        symbols,
        scales,
        exceptions,
        synthesis.rows,
        synthesis.heads,
        synthesis.mean,
        synthesis.anchored,
        synthesis.group,
        out,
    ):
        raise BadStream("An exception is of a place that is not there.")
    return out


@njit(nogil=True, fastmath={"contract"})
def _add_plane(numbers, weights, sums):  # type: ignore[no-untyped-def]
    for column in range(len(weights)):
        weight = weights[column]
        for t in range(len(numbers)):
            sums[column, t] += weight * numbers[t]


@njit(nogil=True, fastmath={"contract"})
def _products(numbers, rows, heads, mean, out):  # type: ignore[no-untyped-def]
    """out[token] = mean + numbers[:, token] @ rows, head by head.

    Four columns by four planes at a time: as much as the registers hold. Each sum begins with what there is already, so
    that each term is one fused multiplication and addition.
    """
    tokens, dim = numbers.shape[1], rows.shape[1]
    sums = np.empty((4, tokens), np.float32)
    for head in range(len(heads) - 1):
        first, end = heads[head], heads[head + 1]
        fours = first + (end - first) // 4 * 4
        for at in range(0, dim, 4):
            for column in range(4):
                sums[column] = mean[head * dim + at + column]
            for p in range(first, fours, 4):
                a0, a1, a2, a3 = rows[p, at], rows[p + 1, at], rows[p + 2, at], rows[p + 3, at]
                b0, b1, b2, b3 = rows[p, at + 1], rows[p + 1, at + 1], rows[p + 2, at + 1], rows[p + 3, at + 1]
                c0, c1, c2, c3 = rows[p, at + 2], rows[p + 1, at + 2], rows[p + 2, at + 2], rows[p + 3, at + 2]
                d0, d1, d2, d3 = rows[p, at + 3], rows[p + 1, at + 3], rows[p + 2, at + 3], rows[p + 3, at + 3]
                for t in range(tokens):
                    n0, n1, n2, n3 = numbers[p, t], numbers[p + 1, t], numbers[p + 2, t], numbers[p + 3, t]
                    sums[0, t] = sums[0, t] + a0 * n0 + a1 * n1 + a2 * n2 + a3 * n3
                    sums[1, t] = sums[1, t] + b0 * n0 + b1 * n1 + b2 * n2 + b3 * n3
                    sums[2, t] = sums[2, t] + c0 * n0 + c1 * n1 + c2 * n2 + c3 * n3
                    sums[3, t] = sums[3, t] + d0 * n0 + d1 * n1 + d2 * n2 + d3 * n3
            for p in range(fours, end):
                _add_plane(numbers[p], rows[p, at : at + 4], sums)
            for t in range(tokens):
                for column in range(4):
                    out[t, head * dim + at + column] = sums[column, t]


@njit(
    "boolean(uint8[:,::1], float32[::1], int32[:,::1], float32[:,::1], int64[::1], float32[::1], boolean[::1], int64,"
    " float32[:,::1])",
    nogil=True,
    cache=True,
)
def _restore(symbols, scales, exceptions, rows, heads, mean, anchored, group, out):  # type: ignore[no-untyped-def]
    planes, tokens = symbols.shape
    numbers = np.empty(symbols.shape, np.float32)
    for plane in range(planes):
        for token in range(tokens):
            numbers[plane, token] = (np.float32(symbols[plane, token]) - np.float32(_ZERO)) * scales[token]
    for at in range(len(exceptions)):
        plane, token = exceptions[at, 0], exceptions[at, 1]
        if not (0 <= plane < planes and 0 <= token < tokens):
            return False
        numbers[plane, token] = np.float32(exceptions[at, 2]) * scales[token]
    if group:
        for plane in range(planes):
            if anchored[plane]:
                for token in range(tokens):
                    if token % group:
                        numbers[plane, token] += numbers[plane, token - token % group]
    _products(numbers, rows, heads, mean, out)
    return True


__all__ = ["Synthesis", "synthesise"]
