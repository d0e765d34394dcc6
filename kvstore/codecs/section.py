"""The bytes of a section coded with a profile. See docs/codec.md.

rows kept whole | exceptions | levels | rANS states and words
"""

from dataclasses import dataclass
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from kernels.rans.encoded import Encoded
from kernels.rans.tables import lanes_of
from kvstore.errors import CorruptBlob

_COUNTS = Struct("<HH")
_EXCEPTION = np.dtype([("plane", "<u2"), ("token", "<u2"), ("value", "<i4")])
EXCEPTION_BYTES = _EXCEPTION.itemsize
_LEVELS_PER_BYTE = 4
_LEVELS = ((np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3).astype(np.uint8)  # those of each byte


@dataclass(frozen=True, eq=False)
class CodedSection:
    """`coded` tokens are those without a row of their own.

    rows: (kept,) uint16, tokens of the section, ascending; row_bits: (kept, width) uint16, their values.
    exceptions: planes, coded tokens and values that the tables have no symbol for.
    levels: (coded,) uint8 within 0..3.
    """

    rows: NDArray[np.uint16]
    row_bits: NDArray[np.uint16]
    exceptions: NDArray[np.void]
    levels: NDArray[np.uint8]
    stream: Encoded

    def pack(self) -> bytes:
        padded = np.zeros(-(-len(self.levels) // _LEVELS_PER_BYTE) * _LEVELS_PER_BYTE, np.uint8)
        padded[: len(self.levels)] = self.levels
        quarters = padded.reshape(-1, _LEVELS_PER_BYTE) << np.array([0, 2, 4, 6], np.uint8)
        return b"".join(
            (
                _COUNTS.pack(len(self.rows), len(self.exceptions)),
                self.rows.astype("<u2").tobytes(),
                self.row_bits.astype("<u2").tobytes(),
                self.exceptions.tobytes(),
                np.bitwise_or.reduce(quarters, axis=1).tobytes(),
                self.stream.states.astype("<u4").tobytes(),
                self.stream.words.astype("<u2").tobytes(),
            )
        )

    @classmethod
    def unpack(cls, data: memoryview, tokens: int, width: int) -> "CodedSection":
        """Raises: CorruptBlob where the parts do not fill `data` or name tokens that the section does not have."""
        if len(data) < _COUNTS.size:
            raise CorruptBlob("A section is too short.")
        n_rows, n_exceptions = _COUNTS.unpack_from(data)
        coded = tokens - n_rows
        if coded < 0:
            raise CorruptBlob("A section keeps more rows than it has tokens.")
        parts = _Parts(data, _COUNTS.size)
        rows = parts.take("<u2", n_rows)
        row_bits = parts.take("<u2", n_rows * width).reshape(n_rows, width)
        exceptions = parts.take(_EXCEPTION, n_exceptions)
        packed = parts.take("<u1", -(-coded // _LEVELS_PER_BYTE))
        states = parts.take("<u4", lanes_of(coded))
        words = parts.take("<u2", parts.left // 2)
        if parts.left:
            raise CorruptBlob("A section has a byte too many.")
        if n_rows and (int(rows[-1]) >= tokens or (np.diff(rows.astype(np.int32)) <= 0).any()):
            raise CorruptBlob("A section's rows are out of order.")
        if n_exceptions and int(exceptions["token"].max()) >= coded:
            raise CorruptBlob("An exception is of a token that is not there.")
        levels = _LEVELS[packed].reshape(-1)
        return cls(rows, row_bits, exceptions, levels[:coded], Encoded(states, words))


class _Parts:
    """Takes arrays off the front of `data`, from `start` on."""

    def __init__(self, data: memoryview, start: int) -> None:
        self._data = data
        self._start = start

    @property
    def left(self) -> int:
        return len(self._data) - self._start

    def take(self, dtype: str | np.dtype[np.void], count: int) -> NDArray:  # type: ignore[type-arg]
        kind = np.dtype(dtype)
        if not count:
            return np.empty(0, kind)
        if kind.itemsize * count > self.left:
            raise CorruptBlob("A section is cut short.")
        part = np.frombuffer(self._data, kind, count, self._start)
        self._start += part.nbytes
        return part


def exceptions_of(found: NDArray[np.int32]) -> NDArray[np.void]:
    """(exceptions, 3) planes, tokens and numbers as they are stored."""
    exceptions = np.zeros(len(found), _EXCEPTION)
    exceptions["plane"], exceptions["token"], exceptions["value"] = found.T
    return exceptions


__all__ = ["EXCEPTION_BYTES", "CodedSection", "exceptions_of"]
