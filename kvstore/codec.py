"""How a section's values become bytes and come back.

    id  name      expansion at most
    0   raw       1         little-endian values as they are
    1   lossless  32768     byte planes, each zstd-compressed or, where that gains little, as it is; bit-exact

Their bytes are specified in docs/blob-format.md.
"""

import struct
import threading
from typing import Protocol

import numpy as np
import torch
import zstandard
from torch import Tensor

from kernels.byteplanes import Bytes, merge_planes, split_planes
from kvstore.errors import BadName, CorruptBlob

_WORTH_IT = 15 / 16  # of its size, at most, a plane must shrink to, or decoding it costs more than reading it


class Codec(Protocol):
    """Turns one contiguous section into bytes and back. Stateless to its callers; used from several threads."""

    @property
    def id(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def most_expansion(self) -> int:
        """A section of n bytes never decodes to more than n times this."""

    def encode_section(self, tensor: Tensor) -> bytes:
        """The bytes of a (tokens, kv_heads, head_dim) tensor."""

    def decode_section(
        self, data: memoryview, dtype: torch.dtype, shape: tuple[int, ...], out: Tensor | None = None
    ) -> Tensor:
        """A tensor of `dtype` and `shape`; `out`, where given, is a contiguous one to write into and return.

        Raises: CorruptBlob when `data` does not decode to exactly that.
        """


class _Raw:
    id = 0
    name = "raw"
    most_expansion = 1

    def encode_section(self, tensor: Tensor) -> bytes:
        return tensor.detach().contiguous().cpu().view(-1).view(torch.uint8).numpy().tobytes()

    def decode_section(
        self, data: memoryview, dtype: torch.dtype, shape: tuple[int, ...], out: Tensor | None = None
    ) -> Tensor:
        values = torch.empty(shape, dtype=dtype) if out is None else out
        if len(data) != values.nbytes:
            raise CorruptBlob(f"A raw section of {values.nbytes} bytes has {len(data)}.")
        values.view(-1).view(torch.uint8).numpy()[...] = np.frombuffer(data, np.uint8)
        return values


class _Lossless:
    id = 1
    name = "lossless"
    most_expansion = 1 << 15

    def __init__(self) -> None:
        self._local = threading.local()

    def encode_section(self, tensor: Tensor) -> bytes:
        planes = split_planes(tensor)
        compressor = self._compressor(planes[0].size)
        stored = []
        for plane in planes:
            packed = compressor.compress(plane.data)
            stored.append(packed if len(packed) <= _WORTH_IT * plane.size else plane.tobytes())
        return struct.pack(f"<{len(stored)}I", *map(len, stored)) + b"".join(stored)

    def decode_section(
        self, data: memoryview, dtype: torch.dtype, shape: tuple[int, ...], out: Tensor | None = None
    ) -> Tensor:
        values = torch.empty(shape, dtype=dtype) if out is None else out
        start = 4 * values.itemsize
        if len(data) < start:
            raise CorruptBlob("A lossless section is too short for its plane lengths.")
        lengths = struct.unpack_from(f"<{values.itemsize}I", data)
        if start + sum(lengths) != len(data):
            raise CorruptBlob("The planes of a lossless section do not fill it.")
        planes = []
        for length in lengths:
            planes.append(self._plane(data[start : start + length], values.numel()))
            start += length
        merge_planes(planes, values)
        return values

    def _plane(self, stored: memoryview, size: int) -> Bytes:
        if len(stored) == size:
            return np.frombuffer(stored, np.uint8)
        try:
            # An unchecked content size would be allocated before a byte is decoded.
            if zstandard.frame_content_size(stored) != size:
                raise CorruptBlob(f"A plane does not state the {size} bytes it must hold.")
            return np.frombuffer(self._decompressor().decompress(stored, allow_extra_data=False), np.uint8)
        except zstandard.ZstdError as error:
            raise CorruptBlob(f"A plane does not decompress: {error}") from error

    def _compressor(self, size: int) -> zstandard.ZstdCompressor:
        # Exponent bytes hold no long repeats: matches found in them cost decoding time and gain nothing. A tiny hash
        # table leaves zstd its entropy coder: measured 11 % smaller and 1.7 times faster to decode than plain level 1.
        parameters = zstandard.ZstdCompressionParameters.from_level(1, source_size=size, hash_log=6, min_match=7)
        return zstandard.ZstdCompressor(compression_params=parameters)

    def _decompressor(self) -> zstandard.ZstdDecompressor:
        if not hasattr(self._local, "decompressor"):  # zstd contexts must not be shared between threads
            self._local.decompressor = zstandard.ZstdDecompressor()
        decompressor: zstandard.ZstdDecompressor = self._local.decompressor
        return decompressor


RAW: Codec = _Raw()
LOSSLESS: Codec = _Lossless()
_CODECS = (RAW, LOSSLESS)


def codec_by_id(codec_id: int) -> Codec:
    """Raises: CorruptBlob for an id that no codec has."""
    for codec in _CODECS:
        if codec.id == codec_id:
            return codec
    raise CorruptBlob(f"No codec has the id {codec_id}.", "A newer Preread may have written this blob.")


def codec_by_name(name: str) -> Codec:
    """Raises: BadName for a name that no codec has."""
    for codec in _CODECS:
        if codec.name == name:
            return codec
    raise BadName(f"There is no codec {name!r}.", f"Use one of {', '.join(codec.name for codec in _CODECS)}.")


__all__ = ["LOSSLESS", "RAW", "Codec", "codec_by_id", "codec_by_name"]
