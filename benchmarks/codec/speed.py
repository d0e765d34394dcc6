"""Encoding and decoding on one core."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import torch

from benchmarks.codec.roundtrip import ANY_IDENTITY, sixteen_bit_bytes
from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import Codec

_ROUNDS = 5


@dataclass(frozen=True)
class Speed:
    """Millions of bytes of 16-bit KV a second, medians."""

    encode_mb_s: float
    decode_mb_s: float


def speed_of(codec: Codec, chunks: Sequence[ChunkKV]) -> Speed:
    """One chunk after the other, in memory, checksums included."""
    blobs = [encode_blob(kv, ANY_IDENTITY, codec) for kv in chunks]
    size = sum(map(sixteen_bit_bytes, chunks)) / 1e6
    with _one_thread():
        encode = _seconds(lambda: [encode_blob(kv, ANY_IDENTITY, codec) for kv in chunks])
        decode = _seconds(lambda: [Blob.parse(blob).decode(codec) for blob in blobs])
    return Speed(size / encode, size / decode)


def _seconds(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return median(taken)


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


__all__ = ["Speed", "speed_of"]
