"""Chunk KV and identities to test with."""

import torch

from kvstore.chunk_kv import ChunkKV
from kvstore.identity import BlobIdentity
from kvstore.key import Reading

BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32
_INTEGERS = {2: torch.int16, 4: torch.int32}


def make_kv(n_tokens=5, layers=((2, 8), (2, 8)), key_dtype=BF16, value_dtype=BF16, seed=0) -> ChunkKV:
    generator = torch.Generator().manual_seed(seed)

    def tensors(dtype):
        return tuple(torch.randn(n_tokens, *shape, generator=generator).to(dtype) for shape in layers)

    return ChunkKV(tensors(key_dtype), tensors(value_dtype))


def make_identity(number=1, **changes) -> BlobIdentity:
    fields = {
        "key": f"{number:064x}",
        "ids_hash": "b" * 64,
        "model_fingerprint": "c" * 64,
        "preamble_hash": "d" * 64,
        "reading": Reading.OPENING,
    }
    return BlobIdentity(**(fields | changes))


def same_bits(a: ChunkKV, b: ChunkKV) -> bool:
    return all(
        x.dtype == y.dtype and torch.equal(x.view(_INTEGERS[x.itemsize]), y.view(_INTEGERS[y.itemsize]))
        for x, y in zip(a.keys + a.values, b.keys + b.values, strict=True)
    )
