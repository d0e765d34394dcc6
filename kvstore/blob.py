"""Chunk KV as one self-describing run of bytes. The format: docs/blob-format.md.

    data = encode_blob(kv, identity, codec)
    blob = Blob.parse(data)
    blob.check(wanted)
    keys, values = blob.layer(0, codecs.of(blob))

Nothing in a blob is believed before it is checked: not a length, not an offset, not a shape.
"""

import math
import struct
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import torch
import xxhash
from torch import Tensor

from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import Codec, SectionJob
from kvstore.codecs.expansion import most_expansion
from kvstore.errors import CorruptBlob
from kvstore.header import FIXED_BYTES, LAYER_BYTES, Geometry, Header
from kvstore.identity import BlobIdentity
from kvstore.sections import (
    ENTRY_BYTES,
    Section,
    count_sections,
    pack_table,
    runs_per_layer,
    unpack_table,
)

_CHECKSUM = struct.Struct("<Q")
_ALIGNMENT = 64


def encode_blob(kv: ChunkKV, identity: BlobIdentity, codec: Codec) -> bytes:
    """The blob of `kv`; `identity` is given the codec's profile.

    Raises: TooLarge beyond the limits of the format; BadChunkKV for what the codec cannot hold.
    """
    if codec.profile_id:
        identity = replace(identity, profile_id=codec.profile_id)
    geometry = Geometry(
        n_tokens=kv.n_tokens,
        layers=tuple((keys.shape[1], keys.shape[2]) for keys in kv.keys),
        key_dtype=codec.decoded_dtype(kv.keys[0].dtype),
        value_dtype=codec.decoded_dtype(kv.values[0].dtype),
    )
    sections = [
        section
        for layer, (keys, values) in enumerate(zip(kv.keys, kv.values, strict=True))
        for section in codec.encode_layer(layer, keys, values)
    ]
    lengths = [len(section) for section in sections]
    header_bytes = _header_bytes(geometry)
    header = Header(identity, geometry, codec.id, len(sections), header_bytes, header_bytes + sum(lengths)).pack()
    header += pack_table(geometry, header_bytes, lengths, [xxhash.xxh3_64_intdigest(section) for section in sections])
    return b"".join((header, _CHECKSUM.pack(xxhash.xxh3_64_intdigest(header)), *sections))


class Blob:
    """A parsed blob over `data`, which it does not copy. Its layers may be decoded from several threads at once."""

    def __init__(self, data: bytes | memoryview, header: Header, sections: list[Section]) -> None:
        self._view = memoryview(data).cast("B")
        self._geometry = header.geometry
        self._sections = sections
        self._verified = False
        self.data = data
        self.identity = header.identity
        self.codec_id = header.codec_id

    @classmethod
    def parse(cls, data: bytes | memoryview) -> "Blob":
        """Check the header, tables and their checksum; sections are checked when they are decoded or by `verify`.

        Raises: CorruptBlob.
        """
        view = memoryview(data).cast("B")
        header = Header.unpack(view)
        geometry = header.geometry
        header_bytes = _header_bytes(geometry)
        if header.header_bytes != header_bytes or header.n_sections != count_sections(geometry):
            raise CorruptBlob("The header's length does not fit the blob's shape.")
        table_end = header_bytes - _CHECKSUM.size
        if _CHECKSUM.unpack_from(view, table_end)[0] != xxhash.xxh3_64_intdigest(view[:table_end]):
            raise CorruptBlob("The header's checksum is wrong.")
        table = view[FIXED_BYTES + LAYER_BYTES * len(geometry.layers) : table_end]
        sections = unpack_table(table, geometry, header_bytes, header.total_bytes, most_expansion(header.codec_id))
        return cls(data, header, sections)

    @property
    def n_tokens(self) -> int:
        return self._geometry.n_tokens

    @property
    def n_layers(self) -> int:
        return len(self._geometry.layers)

    @property
    def decoded_bytes(self) -> int:
        return self._geometry.nbytes

    @property
    def bytes_in_16_bits(self) -> int:
        """What the same keys and values take in 16 bits each, whatever they decode to."""
        return 2 * 2 * self.n_tokens * sum(heads * dim for heads, dim in self._geometry.layers)

    @property
    def dtypes(self) -> frozenset[torch.dtype]:
        """Of keys and values."""
        return frozenset({self._geometry.key_dtype, self._geometry.value_dtype})

    def check(self, expected: BlobIdentity) -> None:
        """Compare with what is wanted; see `BlobIdentity.check`. Raises: ForeignBlob."""
        self.identity.check(expected)

    def verify(self) -> None:
        """Check every section's checksum, decoding nothing. Raises: CorruptBlob."""
        for section in self._sections:
            self._checked(section)
        self._verified = True

    def layer(self, layer: int, codec: Codec) -> tuple[Tensor, Tensor]:
        """Keys and values of one layer, each (tokens, kv_heads, head_dim), freshly allocated.

        Raises: CorruptBlob when a checksum or a section is wrong; IndexError beyond the last layer.
        """
        shape = (self.n_tokens, *self._geometry.layers[layer])
        keys = torch.empty(shape, dtype=self._geometry.key_dtype)
        values = torch.empty(shape, dtype=self._geometry.value_dtype)
        codec.decode(list(self._jobs(layer % self.n_layers, keys, values)))
        return keys, values

    def allocate(self) -> ChunkKV:
        """Room for all layers, side by side in one allocation, for `decode_layers`."""
        keys: list[Tensor] = []
        values: list[Tensor] = []
        # One large NumPy array gets huge pages from the kernel; page faults would cost more than decoding.
        padding = 2 * self.n_layers * _ALIGNMENT
        memory = torch.from_numpy(np.empty(self._geometry.nbytes + padding, np.uint8))
        start = 0
        for heads_and_dim in self._geometry.layers:
            for tensors, dtype in ((keys, self._geometry.key_dtype), (values, self._geometry.value_dtype)):
                shape = (self.n_tokens, *heads_and_dim)
                end = start + math.prod(shape) * dtype.itemsize
                tensors.append(memory[start:end].view(dtype).view(shape))
                start = -(-end // _ALIGNMENT) * _ALIGNMENT
        return ChunkKV(tuple(keys), tuple(values))

    def decode_layers(self, layers: Iterable[int], kv: ChunkKV, codec: Codec) -> None:
        """Decode these layers into `kv`, which `allocate` made, and leave the others alone. Raises: CorruptBlob."""
        codec.decode([job for layer in layers for job in self._jobs(layer, kv.keys[layer], kv.values[layer])])

    def decode(self, codec: Codec) -> ChunkKV:
        """All layers. Raises: CorruptBlob."""
        kv = self.allocate()
        self.decode_layers(range(self.n_layers), kv, codec)
        return kv

    def _jobs(self, layer: int, keys: Tensor, values: Tensor) -> Iterable[SectionJob]:
        runs = runs_per_layer(self._geometry)
        for kind, out in enumerate((keys, values)):
            first = (2 * layer + kind) * runs
            for section in self._sections[first : first + runs]:
                run = out[section.first_token : section.first_token + section.tokens]
                yield SectionJob(layer, kind, self._checked(section), run)

    def _checked(self, section: Section) -> memoryview:
        data = self._view[section.offset : section.offset + section.length]
        if not self._verified and xxhash.xxh3_64_intdigest(data) != section.checksum:
            raise CorruptBlob("A section's checksum is wrong.")
        return data


def _header_bytes(geometry: Geometry) -> int:
    tables = LAYER_BYTES * len(geometry.layers) + ENTRY_BYTES * count_sections(geometry)
    return FIXED_BYTES + tables + _CHECKSUM.size


__all__ = ["Blob", "BlobIdentity", "encode_blob"]
