"""A prompt's chunks through a codec, everything else exact: how far the answer moves, and how many bytes they take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import ExactRun, forced
from benchmarks.lab.metrics import Closeness, closeness
from benchmarks.lab.reading import PieceKV, place, take
from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import Codec
from kvstore.identity import BlobIdentity
from kvstore.key import Reading

ANY_IDENTITY = BlobIdentity("1" * 64, "2" * 64, "3" * 64, "4" * 64, Reading.OPENING)
SHORT_TOKENS = 64


@dataclass(frozen=True)
class RoundTrip:
    """One codec on one question. Bytes are of whole blobs, `raw_bytes` of the same KV in 16 bits.

    short_raw_bytes, short_blob_bytes: of the first 64 tokens of each chunk as a chunk of its own; 0: not asked for.
    error: relative, root mean square over layers and kinds.
    """

    closeness: Closeness
    raw_bytes: int
    blob_bytes: int
    short_raw_bytes: int
    short_blob_bytes: int
    error: float


def chunk_kv(model: DenseModel, exact: ExactRun) -> list[ChunkKV]:
    """The chunks of an exact run, keys un-rotated, float32."""
    found = []
    for segment in exact.chunk_segments:
        slots = torch.arange(segment.start, segment.end)
        piece = take(model, exact.cache, slots, slots)
        found.append(ChunkKV(_layers(model, piece.keys), _layers(model, piece.values)))
    return found


def round_trip(
    model: DenseModel, exact: ExactRun, chunks: Sequence[ChunkKV], codec: Codec, *, short: bool = True
) -> RoundTrip:
    blobs = [encode_blob(kv, ANY_IDENTITY, codec) for kv in chunks]
    starts = [_first(kv, SHORT_TOKENS) for kv in chunks] if short else []
    decoded = [Blob.parse(blob).decode(codec) for blob in blobs]
    cache = replaced(model, exact, decoded)
    return RoundTrip(
        closeness(exact.log_probabilities, forced(model, exact, cache)),
        sum(map(sixteen_bit_bytes, chunks)),
        sum(map(len, blobs)),
        sum(map(sixteen_bit_bytes, starts)),
        sum(len(encode_blob(kv, ANY_IDENTITY, codec)) for kv in starts),
        _error(chunks, decoded),
    )


def replaced(model: DenseModel, exact: ExactRun, chunks: Sequence[ChunkKV]) -> ScatterCache:
    """The exact run's context with these chunks in the place of its own."""
    cache = exact.cache.copy(exact.room())
    for segment, kv in zip(exact.chunk_segments, chunks, strict=True):
        piece = PieceKV(*(torch.cat([each.float() for each in part], 1) for part in (kv.keys, kv.values)))
        place(model, cache, piece, segment.start)
    return cache


def in_dtype(chunks: Sequence[ChunkKV], dtype: torch.dtype) -> list[ChunkKV]:
    return [_mapped(kv, lambda tensor: tensor.to(dtype)) for kv in chunks]


def sixteen_bit_bytes(kv: ChunkKV) -> int:
    return 2 * sum(tensor.numel() for tensor in (*kv.keys, *kv.values))


def _layers(model: DenseModel, stacked: Tensor) -> tuple[Tensor, ...]:
    return tuple(part.contiguous() for part in torch.split(stacked, model.kv_heads, dim=1))


def _first(kv: ChunkKV, tokens: int) -> ChunkKV:
    return _mapped(kv, lambda tensor: tensor[:tokens])


def _mapped(kv: ChunkKV, change: Callable[[Tensor], Tensor]) -> ChunkKV:
    return ChunkKV(tuple(map(change, kv.keys)), tuple(map(change, kv.values)))


def _error(chunks: Sequence[ChunkKV], decoded: Sequence[ChunkKV]) -> float:
    shares = [
        (float((after.float() - before).square().sum()), float(before.square().sum()))
        for kv, back in zip(chunks, decoded, strict=True)
        for before, after in zip((*kv.keys, *kv.values), (*back.keys, *back.values), strict=True)
    ]
    squares = [wrong / whole for wrong, whole in shares if whole]
    return float((sum(squares) / len(squares)) ** 0.5) if squares else 0.0


__all__ = [
    "ANY_IDENTITY",
    "SHORT_TOKENS",
    "RoundTrip",
    "chunk_kv",
    "in_dtype",
    "replaced",
    "round_trip",
    "sixteen_bit_bytes",
]
