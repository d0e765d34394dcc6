"""Bit-exact: byte planes, each zstd-compressed or, where that gains little, as it is. See docs/blob-format.md."""

import struct
import threading
from collections.abc import Sequence

import numpy as np
import torch
import zstandard
from torch import Tensor

from kernels.byteplanes import Bytes, merge_planes, split_planes
from kvstore.codecs.base import SectionJob, runs
from kvstore.errors import CorruptBlob

_WORTH_IT = 15 / 16  # of its size, at most, a plane must shrink to, or decoding it costs more than reading it


class Lossless:
    """Codec 1."""

    id = 1
    name = "lossless"
    profile_id = ""

    def __init__(self) -> None:
        self._local = threading.local()

    def decoded_dtype(self, dtype: torch.dtype) -> torch.dtype:
        return dtype

    def encode_layer(self, layer: int, keys: Tensor, values: Tensor) -> list[bytes]:  # noqa: ARG002 - all are coded alike
        return [self._encode(run) for tensor in (keys, values) for run in runs(tensor)]

    def decode(self, jobs: Sequence[SectionJob]) -> None:
        for job in jobs:
            self._decode(job.data, job.out)

    def _encode(self, tensor: Tensor) -> bytes:
        planes = split_planes(tensor)
        compressor = self._compressor(planes[0].size)
        stored = []
        for plane in planes:
            packed = compressor.compress(plane.data)
            stored.append(packed if len(packed) <= _WORTH_IT * plane.size else plane.tobytes())
        return struct.pack(f"<{len(stored)}I", *map(len, stored)) + b"".join(stored)

    def _decode(self, data: memoryview, out: Tensor) -> None:
        start = 4 * out.itemsize
        if len(data) < start:
            raise CorruptBlob("A lossless section is too short for its plane lengths.")
        lengths = struct.unpack_from(f"<{out.itemsize}I", data)
        if start + sum(lengths) != len(data):
            raise CorruptBlob("The planes of a lossless section do not fill it.")
        planes = []
        for length in lengths:
            planes.append(self._plane(data[start : start + length], out.numel()))
            start += length
        merge_planes(planes, out)

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


__all__ = ["Lossless"]
