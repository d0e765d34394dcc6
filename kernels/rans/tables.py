"""Static symbol frequencies, and which lane and table code a symbol. The stream is specified in docs/codec.md.

rANS (Duda, arXiv 1311.2540): a state x >= 2**16 holds the symbols coded so far; coding a symbol of frequency f out of
2**12 multiplies it by about 2**12 / f. Whole 16-bit words leave it and enter it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernels.errors import BadShape

SCALE_BITS = 12
SCALE = 1 << SCALE_BITS
LOWEST_STATE = 1 << 16
SYMBOLS = 256
INVERSE_BITS = 44
MAX_LANES = 16
TOKENS_PER_LANE = 8


@dataclass(frozen=True, eq=False)
class Tables:
    """Frequencies of a profile's symbols.

    frequencies: (tables, 256) uint16, each row summing to 4096, none above 4095.
    movable: a plane coded with a table below this one uses, for tokens with a bump b, the table b rows on.
    Raises: BadShape.
    """

    frequencies: NDArray[np.uint16]
    movable: int

    def __post_init__(self) -> None:
        shape = self.frequencies.shape
        if len(shape) != 2 or not 0 < shape[0] <= SYMBOLS or shape[1] != SYMBOLS or not 0 <= self.movable <= shape[0]:
            raise BadShape(f"Frequencies are of 1 to {SYMBOLS} tables of {SYMBOLS} symbols, not {shape}.")
        if (self.frequencies.sum(1, dtype=np.int64) != SCALE).any() or int(self.frequencies.max()) >= SCALE:
            raise BadShape(f"Each table's frequencies sum to {SCALE}, and no single one does.")

    @cached_property
    def starts(self) -> NDArray[np.uint16]:
        """(tables, 256): where each symbol's range begins, in 0..4096."""
        ends = np.cumsum(self.frequencies, axis=1, dtype=np.int64)
        return (ends - self.frequencies).astype(np.uint16)

    @cached_property
    def ranges(self) -> NDArray[np.uint32]:
        """(tables, 256): of each symbol where its range begins << 12 | frequency."""
        return self.starts.astype(np.uint32) << np.uint32(SCALE_BITS) | self.frequencies.astype(np.uint32)

    @cached_property
    def inverses(self) -> NDArray[np.uint64]:
        """(tables, 256): floor(2**44 / frequency) + 1, 0 for frequency 0. state * inverse >> 44 is state // frequency.

        Exactly, as an encoder divides states below frequency * 2**20: the product is then below 2**64, and too large by
        less than 2**44 / frequency.
        """
        frequencies = self.frequencies.astype(np.uint64)
        inverses = np.uint64(1 << INVERSE_BITS) // np.maximum(frequencies, np.uint64(1)) + np.uint64(1)
        return np.where(frequencies > 0, inverses, np.uint64(0))

    @cached_property
    def slots(self) -> NDArray[np.uint32]:
        """(tables * 4096,): for each slot its symbol << 24 | offset in the symbol's range << 12 | frequency."""
        every = np.tile(np.arange(SYMBOLS), len(self.frequencies))
        symbol = np.repeat(every, self.frequencies.ravel()).reshape(-1, SCALE)
        start = np.take_along_axis(self.starts, symbol, 1).astype(np.int64)
        frequency = np.take_along_axis(self.frequencies, symbol, 1).astype(np.int64)
        packed = symbol << 24 | (np.arange(SCALE) - start) << SCALE_BITS | frequency
        return packed.astype(np.uint32).ravel()

    def check(self, planes: NDArray[np.uint8], bumps: NDArray[np.uint8]) -> None:
        """Raises BadShape where a plane's table, moved by a bump, would not be one of these (or not a movable one)."""
        moved = planes[planes < self.movable]
        if (planes >= len(self.frequencies)).any() or (
            moved.size and bumps.size and int(moved.max()) + int(bumps.max()) >= self.movable
        ):
            raise BadShape("A plane names a table that there is not.")


def lanes_of(tokens: int) -> int:
    """How many states code a section of that many tokens; token t belongs to lane t % lanes."""
    return min(max(tokens // TOKENS_PER_LANE, 1), MAX_LANES) if tokens else 0


__all__ = ["INVERSE_BITS", "LOWEST_STATE", "MAX_LANES", "SCALE", "SCALE_BITS", "SYMBOLS", "Tables", "lanes_of"]
