"""The section table of a blob: where each layer's keys and values of 256 tokens lie, in one fixed order.

Sections go layer by layer, keys before values, then by tokens, without gaps. So everything but the lengths and
checksums follows from the geometry, and a table that states anything else is corrupt.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kvstore.errors import CorruptBlob
from kvstore.header import Geometry

TOKENS_PER_SECTION = 256
KEYS, VALUES = 0, 1

_ENTRY = np.dtype(
    [
        ("layer", "<u4"),
        ("kind", "<u4"),
        ("first_token", "<u4"),
        ("tokens", "<u4"),
        ("offset", "<u8"),
        ("length", "<u8"),
        ("checksum", "<u8"),
    ]
)
ENTRY_BYTES = _ENTRY.itemsize


class Section(NamedTuple):
    first_token: int
    tokens: int
    offset: int
    length: int
    checksum: int


def runs_per_layer(geometry: Geometry) -> int:
    """How many sections a layer's keys (and as many its values) are cut into."""
    return -(-geometry.n_tokens // TOKENS_PER_SECTION)


def count_sections(geometry: Geometry) -> int:
    return 2 * len(geometry.layers) * runs_per_layer(geometry)


def pack_table(geometry: Geometry, start: int, lengths: Sequence[int], checksums: Sequence[int]) -> bytes:
    """The table of sections that begin at byte `start` of the blob, in their order."""
    table = _skeleton(geometry).copy()
    table["length"] = lengths
    table["offset"] = start + np.cumsum(table["length"], dtype=np.uint64) - table["length"]
    table["checksum"] = checksums
    return table.tobytes()


def unpack_table(data: memoryview, geometry: Geometry, start: int, end: int, most_expansion: int) -> list[Section]:
    """Check and read a table whose sections must fill bytes `start` to `end` of the blob.

    Args:
        data: `count_sections(geometry)` entries.
        most_expansion: no section may decode to more than this many times its length.
    Raises: CorruptBlob.
    """
    table = np.frombuffer(data, _ENTRY)
    expected = _skeleton(geometry)
    if any((table[name] != expected[name]).any() for name in ("layer", "kind", "first_token", "tokens")):
        raise CorruptBlob("The section table does not fit the blob's shape.")
    if (table["length"] > end - start).any():  # also keeps the sums below from overflowing
        raise CorruptBlob("A section is longer than the blob.")
    ends = start + np.cumsum(table["length"], dtype=np.uint64)
    if ends[-1] != end or (table["offset"] != ends - table["length"]).any():
        raise CorruptBlob("The sections do not fill the blob.")
    if (_decoded_bytes(table, geometry) > table["length"] * np.uint64(most_expansion)).any():
        raise CorruptBlob("A section claims to hold more than its bytes can.")
    return [Section._make(entry[2:]) for entry in table.tolist()]


@lru_cache(64)  # chunks of a few lengths are most of all
def _skeleton(geometry: Geometry) -> NDArray[np.void]:
    """What follows from the geometry; not to be written to."""
    runs = runs_per_layer(geometry)
    table = np.zeros(count_sections(geometry), _ENTRY)
    grid = table.reshape(len(geometry.layers), 2, runs)
    first_tokens = np.arange(runs, dtype=np.uint32) * TOKENS_PER_SECTION
    grid["layer"] = np.arange(len(geometry.layers), dtype=np.uint32)[:, None, None]
    grid["kind"] = np.array([KEYS, VALUES], np.uint32)[None, :, None]
    grid["first_token"] = first_tokens
    grid["tokens"] = np.minimum(geometry.n_tokens - first_tokens, TOKENS_PER_SECTION)
    return table


def _decoded_bytes(table: NDArray[np.void], geometry: Geometry) -> NDArray[np.uint64]:
    widths = np.array([heads * dim for heads, dim in geometry.layers], np.uint64)
    itemsizes = np.array([geometry.key_dtype.itemsize, geometry.value_dtype.itemsize], np.uint64)
    size: NDArray[np.uint64] = table["tokens"] * widths[table["layer"]] * itemsizes[table["kind"]]
    return size


__all__ = [
    "ENTRY_BYTES",
    "TOKENS_PER_SECTION",
    "Section",
    "count_sections",
    "pack_table",
    "runs_per_layer",
    "unpack_table",
]
