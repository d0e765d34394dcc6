"""Small chunk KV in a store, and codecs that spoil it or wait."""

from collections.abc import Sequence
from threading import Event

import torch

from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import Codec, SectionJob
from kvstore.codecs.codecs import LOSSLESS, Codecs
from kvstore.codecs.lossless import Lossless
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.profiles import Profiles
from kvstore.store import ChunkStore

TENANT = "tests"
LAYERS, HEADS, HEAD_DIM, TOKENS = 10, 2, 8, 5


def identity_of(number: int, reading: Reading = Reading.OPENING) -> BlobIdentity:
    return BlobIdentity(f"{number:064x}", "b" * 64, "c" * 64, "d" * 64, reading)


def sample_kv(seed: int = 0, tokens: int = TOKENS, heads: int = HEADS) -> ChunkKV:
    generator = torch.Generator().manual_seed(seed)
    layers = [torch.randn(tokens, heads, HEAD_DIM, generator=generator).to(torch.bfloat16) for _ in range(2 * LAYERS)]
    return ChunkKV(tuple(layers[:LAYERS]), tuple(layers[LAYERS:]))


def put_kv(store: ChunkStore, identity: BlobIdentity, kv: ChunkKV, codec: Codec = LOSSLESS) -> None:
    store.put(TENANT, encode_blob(kv, identity, codec))


def same(one: ChunkKV, other: ChunkKV) -> bool:
    pairs = zip(one.keys + one.values, other.keys + other.values, strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


class Spoilt(Lossless):
    """Writes one layer as bytes that have the right checksums and decode to nothing."""

    def __init__(self, layer: int) -> None:
        super().__init__()
        self._layer = layer

    def encode_layer(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> list[bytes]:
        sections = super().encode_layer(layer, keys, values)
        return [b"\xff" * len(section) for section in sections] if layer == self._layer else sections


class GatedCodecs(Codecs):
    """Every blob is lossless; sections of `layer` and beyond are decoded once `open` is set, or fail with `error`."""

    def __init__(self, layer: int = 0, error: Exception | None = None) -> None:
        super().__init__(Profiles([]))
        self.open = Event()
        self._layer = layer
        self._error = error

    def of(self, blob: Blob) -> Codec:
        return _Gated(self)

    def pass_through(self, jobs: Sequence[SectionJob]) -> None:
        if any(job.layer >= self._layer for job in jobs):
            assert self.open.wait(20), "nobody opened the gate"
            if self._error is not None:
                raise self._error


class _Gated(Lossless):
    def __init__(self, gate: GatedCodecs) -> None:
        super().__init__()
        self._gate = gate

    def decode(self, jobs: Sequence[SectionJob]) -> None:
        self._gate.pass_through(jobs)
        super().decode(jobs)
