"""One blob decoded a few layers at a time, from several threads, and cut to the heads that are kept."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kvstore.blob import Blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import Codec


@dataclass(frozen=True, eq=False)
class Decoding:
    """A blob into `room`, which has all heads; `kv` has those of `share`, and is the room itself where that is all."""

    blob: Blob
    codec: Codec
    room: ChunkKV
    kv: ChunkKV
    share: slice

    @classmethod
    def of(cls, blob: Blob, codec: Codec, share: slice) -> "Decoding":
        room = blob.allocate()
        if all(keys[:, share].shape == keys.shape for keys in room.keys):
            return cls(blob, codec, room, room, share)
        # In memory of their own, so that the other heads are freed.
        return cls(blob, codec, room, ChunkKV(_like(room.keys, share), _like(room.values, share)), share)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """(kv_heads, head_dim) of each layer of the blob."""
        return [tuple(keys.shape[1:]) for keys in self.room.keys]

    def decode(self, layers: Sequence[int]) -> float:
        """Returns how many seconds it took. Raises: CorruptBlob."""
        began = time.perf_counter()
        self.blob.decode_layers(layers, self.room, self.codec)
        if self.kv is not self.room:
            for layer in layers:
                self.kv.keys[layer].copy_(self.room.keys[layer][:, self.share])
                self.kv.values[layer].copy_(self.room.values[layer][:, self.share])
        return time.perf_counter() - began


def _like(layers: Sequence[Tensor], share: slice) -> tuple[Tensor, ...]:
    return tuple(torch.empty_like(layer[:, share]) for layer in layers)


__all__ = ["Decoding"]
