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
_U16, _U32 = np.dtype("<u2"), np.dtype("<u4")
_NO_WORDS, _NO_STATES = np.empty(0, np.uint16), np.empty(0, np.uint32)
_NO_EXCEPTIONS = np.empty((0, 3), np.int32)
_LEVELS_PER_BYTE = 4
_LEVELS = ((np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3).astype(np.uint8)  # those of each byte


@dataclass(frozen=True, eq=False)
class CodedSection:
    """`coded` tokens are those without a row of their own.

    rows: (kept,) uint16, tokens of the section, ascending; row_bits: (kept, width) uint16, their values.
    exceptions: (exceptions, 3) int32, planes, coded tokens and numbers that the tables have no symbol for.
    levels: (coded,) uint8 within 0..3.
    """

    rows: NDArray[np.uint16]
    row_bits: NDArray[np.uint16]
    exceptions: NDArray[np.int32]
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
                _packed(self.exceptions),
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
        lanes = lanes_of(coded)
        bits_at = _COUNTS.size + _U16.itemsize * n_rows
        exceptions_at = bits_at + _U16.itemsize * n_rows * width
        levels_at = exceptions_at + EXCEPTION_BYTES * n_exceptions
        states_at = levels_at - (-coded // _LEVELS_PER_BYTE)
        words_at = states_at + _U32.itemsize * lanes
        n_words, odd = divmod(len(data) - words_at, _U16.itemsize)
        if n_words < 0 or odd:
            raise CorruptBlob("A section is cut short, or has a byte too many.")
        packed = np.frombuffer(data, np.uint8, states_at - levels_at, levels_at)
        stream = Encoded(
            np.frombuffer(data, _U32, lanes, states_at) if lanes else _NO_STATES,
            np.frombuffer(data, _U16, n_words, words_at) if n_words else _NO_WORDS,
        )
        levels = _LEVELS[packed].reshape(-1)[:coded]
        exceptions = _NO_EXCEPTIONS
        if n_exceptions:
            exceptions = _unpacked(np.frombuffer(data, _EXCEPTION, n_exceptions, exceptions_at))
        if not n_rows:
            return cls(_NO_WORDS, np.empty((0, width), np.uint16), exceptions, levels, stream)
        rows = np.frombuffer(data, _U16, n_rows, _COUNTS.size)
        if int(rows[-1]) >= tokens or (np.diff(rows.astype(np.int32)) <= 0).any():
            raise CorruptBlob("A section's rows are out of order.")
        row_bits = np.frombuffer(data, _U16, n_rows * width, bits_at).reshape(n_rows, width)
        return cls(rows, row_bits, exceptions, levels, stream)


def _packed(exceptions: NDArray[np.int32]) -> bytes:
    packed = np.zeros(len(exceptions), _EXCEPTION)
    packed["plane"], packed["token"], packed["value"] = exceptions.T
    return packed.tobytes()


def _unpacked(packed: NDArray[np.void]) -> NDArray[np.int32]:
    return np.stack([packed["plane"], packed["token"], packed["value"]], axis=1, dtype=np.int32)


__all__ = ["EXCEPTION_BYTES", "CodedSection"]
