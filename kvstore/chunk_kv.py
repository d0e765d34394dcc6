"""A chunk's KV in memory."""

from dataclasses import dataclass

import torch
from torch import Tensor

from kvstore.errors import BadChunkKV

FLOAT_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


@dataclass(frozen=True, eq=False)
class ChunkKV:
    """Un-rotated keys and values of one chunk.

    Args:
        keys, values: one (tokens, kv_heads, head_dim) tensor a layer, on the CPU. All keys share one dtype and all
            values one, each bfloat16, float16 or float32; kv_heads and head_dim may differ between layers.
    Raises: BadChunkKV.
    """

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]

    def __post_init__(self) -> None:
        if not self.keys or len(self.keys) != len(self.values):
            raise BadChunkKV(f"Keys of {len(self.keys)} layers and values of {len(self.values)} make no chunk KV.")
        for layer, (key, value) in enumerate(zip(self.keys, self.values, strict=True)):
            if key.dim() != 3 or key.shape != value.shape or 0 in key.shape or len(key) != self.n_tokens:
                raise BadChunkKV(f"Layer {layer}: keys {tuple(key.shape)} and values {tuple(value.shape)} do not fit.")
            if key.dtype != self.keys[0].dtype or value.dtype != self.values[0].dtype:
                raise BadChunkKV(f"Layer {layer} has another dtype than layer 0.")
            if key.device.type != "cpu" or value.device.type != "cpu":
                raise BadChunkKV(f"Layer {layer} is on {key.device}.", "Move the tensors to the CPU first.")
        if self.keys[0].dtype not in FLOAT_DTYPES or self.values[0].dtype not in FLOAT_DTYPES:
            raise BadChunkKV(f"Chunk KV of {self.keys[0].dtype} and {self.values[0].dtype} is not supported.")

    @property
    def n_tokens(self) -> int:
        return len(self.keys[0])

    @property
    def n_layers(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Bytes of all values, uncompressed."""
        return sum(tensor.nbytes for tensor in (*self.keys, *self.values))


__all__ = ["FLOAT_DTYPES", "ChunkKV"]
