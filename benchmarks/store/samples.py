"""Chunk KV and identities made up from a seed."""

import random

import torch

from kvstore.chunk_kv import ChunkKV
from kvstore.identity import BlobIdentity
from kvstore.key import Reading


def sample_kv(tokens: int, layers: int, kv_heads: int, head_dim: int, seed: int) -> ChunkKV:
    """Gaussian, bfloat16."""
    generator = torch.Generator().manual_seed(seed)

    def tensors() -> tuple[torch.Tensor, ...]:
        return tuple(torch.randn(tokens, kv_heads, head_dim, generator=generator).bfloat16() for _ in range(layers))

    return ChunkKV(tensors(), tensors())


def sample_identity(seed: int) -> BlobIdentity:
    draw = random.Random(seed)  # noqa: S311
    key, ids_hash, fingerprint, preamble_hash = (f"{draw.getrandbits(256):064x}" for _ in range(4))
    return BlobIdentity(key, ids_hash, fingerprint, preamble_hash, Reading.OPENING)


def same_kv(a: ChunkKV, b: ChunkKV) -> bool:
    """Whether `a`, in the precision of `b`, is `b`."""
    return all(torch.equal(x.to(y.dtype), y) for x, y in zip(a.keys + a.values, b.keys + b.values, strict=True))


__all__ = ["same_kv", "sample_identity", "sample_kv"]
