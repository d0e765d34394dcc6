"""Two ways to load the same chunks into pages: everything fetched, then decoded, then written; or streamed."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.streaming_link import LinkedTier
from generator.arriving import Wanted
from generator.choosing import Chooser
from generator.fetching import Fetcher
from kernels.rope import rotate_keys
from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import Codec
from kvstore.codecs.codecs import Codecs
from kvstore.decoded import DecodedChunks
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.store import ChunkStore, Hit

_TENANT = "bench"
_BLOCK_TOKENS = 16
_ROPE_BASE = 100_000.0


@dataclass(frozen=True)
class Shape:
    """Of what is loaded."""

    chunks: int
    tokens: int
    layers: int
    kv_heads: int
    head_dim: int


def made_up_kv(shape: Shape, seed: int) -> ChunkKV:
    """Chunk KV in bfloat16 whose channels have scales of their own, a few of them large, as a model's keys have."""
    generator = torch.Generator().manual_seed(seed)

    def layers() -> tuple[Tensor, ...]:
        made = []
        for _ in range(shape.layers):
            scales = torch.exp(torch.randn(shape.kv_heads, shape.head_dim, generator=generator))
            values = torch.randn(shape.tokens, shape.kv_heads, shape.head_dim, generator=generator)
            made.append((values * scales).to(torch.bfloat16))
        return tuple(made)

    return ChunkKV(layers(), layers())


class Pages:
    """keys, values: (slots, kv_heads, head_dim) bfloat16 for each layer; a prompt's tokens lie in shuffled blocks."""

    def __init__(self, shape: Shape) -> None:
        tokens = shape.chunks * shape.tokens
        blocks = torch.randperm(-(-tokens // _BLOCK_TOKENS), generator=torch.Generator().manual_seed(0))
        slots = (blocks[:, None] * _BLOCK_TOKENS + torch.arange(_BLOCK_TOKENS)).flatten()
        page = len(slots), shape.kv_heads, shape.head_dim
        self.keys = [torch.zeros(page, dtype=torch.bfloat16) for _ in range(shape.layers)]
        self.values = [torch.zeros(page, dtype=torch.bfloat16) for _ in range(shape.layers)]
        self._slots = slots[:tokens]
        inv_freq = _ROPE_BASE ** (-torch.arange(0, shape.head_dim, 2) / shape.head_dim)
        angles = torch.arange(tokens)[:, None] * inv_freq
        self._cos, self._sin = angles.cos(), angles.sin()

    def write(self, layer: int, chunks: Sequence[ChunkKV]) -> None:
        keys = torch.cat([kv.keys[layer] for kv in chunks])
        rotated = rotate_keys(keys, self._cos, self._sin, neox=True, rotary_dim=keys.shape[-1])
        self.keys[layer].index_put_((self._slots,), rotated.to(torch.bfloat16))
        self.values[layer].index_put_((self._slots,), torch.cat([kv.values[layer] for kv in chunks]))


class Loading:
    """The same chunks behind a tier, to be loaded again and again; nothing stays in memory."""

    def __init__(self, tier: LinkedTier, shape: Shape, codec: Codec, codecs: Codecs) -> None:
        self.shape = shape
        self._store = ChunkStore([tier])
        self._codecs = codecs
        self._identities = [
            BlobIdentity(f"{1 + number:064x}", "b" * 64, "c" * 64, "d" * 64, Reading.OPENING)
            for number in range(shape.chunks)
        ]
        for number, identity in enumerate(self._identities):
            self._store.put(_TENANT, encode_blob(made_up_kv(shape, number), identity, codec))
        nothing = DecodedChunks(0)
        self.chooser = Chooser(self._store, nothing)
        shapes, every = [(shape.kv_heads, shape.head_dim)] * shape.layers, slice(0, shape.kv_heads)
        self._fetcher = Fetcher(self._store, codecs, nothing, shapes, every, self.chooser, torch.bfloat16)
        self._pool = ThreadPoolExecutor(torch.get_num_threads())

    @property
    def blob_bytes(self) -> list[int]:
        """Of each chunk."""
        sizes = self._store.sizes(_TENANT, [identity.key for identity in self._identities])
        return [sizes[identity.key].nbytes for identity in self._identities]

    def one_after_the_other(self, pages: Pages) -> float:
        """Fetch all chunks, decode all, write all. Returns seconds."""
        began = time.perf_counter()
        blobs = [self._blob(identity) for identity in self._identities]
        chunks = list(self._pool.map(lambda blob: blob.decode(self._codecs.of(blob)), blobs))
        for layer in range(self.shape.layers):
            pages.write(layer, chunks)
        return time.perf_counter() - began

    def streamed(self, pages: Pages) -> float:
        """Decode what has come while more is fetched, and write what is decoded. Returns seconds."""
        began = time.perf_counter()
        wanted = [Wanted((identity,), self.shape.tokens) for identity in self._identities]
        arriving = self._fetcher.fetch(_TENANT, wanted)
        chunks = [kv for each in arriving if (kv := each.found().kv) is not None]
        for layer in range(self.shape.layers):
            if not all(each.has(layer) for each in arriving):
                raise RuntimeError("a chunk that was put into the store does not come out of it")
            pages.write(layer, chunks)
        return time.perf_counter() - began

    def close(self) -> None:
        self._fetcher.close()
        self._pool.shutdown()

    def _blob(self, identity: BlobIdentity) -> Blob:
        found = self._store.get(_TENANT, identity)
        if not isinstance(found, Hit):
            raise RuntimeError("a chunk that was put into the store does not come out of it")  # noqa: TRY004
        return found.blob


__all__ = ["Loading", "Pages", "Shape", "made_up_kv"]
