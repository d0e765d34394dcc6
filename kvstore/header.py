"""The fixed start of a blob and its layer table: what the blob is of, and its shapes. See docs/blob-format.md."""

from dataclasses import dataclass
from struct import Struct

import torch

from kvstore.errors import BadName, CorruptBlob, TooLarge
from kvstore.identity import BlobIdentity
from kvstore.key import Reading

MAGIC = b"\x89PRKV\r\n\x1a"
VERSION = 1
MAX_TOKENS = 1 << 17
MAX_LAYERS = 1 << 10
MAX_WIDTH = 1 << 16  # kv_heads * head_dim
MAX_DECODED_BYTES = 1 << 32

_FIXED = Struct("<8s HH BBBx QIIII 32s 32s 32s 32s 32s 16s".replace(" ", ""))
_LAYER = Struct("<II")
_READINGS = {Reading.OPENING: 1, Reading.CONDITIONED: 2}
_DTYPES = {torch.bfloat16: 1, torch.float16: 2, torch.float32: 3}
_READING_OF = {code: reading for reading, code in _READINGS.items()}
_DTYPE_OF = {code: dtype for dtype, code in _DTYPES.items()}

_PADDING_AT = 15
FIXED_BYTES = _FIXED.size
LAYER_BYTES = _LAYER.size


@dataclass(frozen=True)
class Geometry:
    """Shapes and dtypes of chunk KV: `layers` holds each layer's (kv_heads, head_dim).

    Raises: TooLarge beyond the limits of the format.
    """

    n_tokens: int
    layers: tuple[tuple[int, int], ...]
    key_dtype: torch.dtype
    value_dtype: torch.dtype

    def __post_init__(self) -> None:
        if not 0 < self.n_tokens <= MAX_TOKENS or not 0 < len(self.layers) <= MAX_LAYERS:
            raise TooLarge(f"A blob cannot hold {self.n_tokens} tokens of {len(self.layers)} layers.")
        if any(not 0 < heads * dim <= MAX_WIDTH for heads, dim in self.layers):
            raise TooLarge(f"A blob's layers are at most {MAX_WIDTH} values wide.")
        if self.nbytes > MAX_DECODED_BYTES:
            raise TooLarge(f"A blob cannot hold {self.nbytes} bytes of KV.", "Use shorter chunks.")

    @property
    def nbytes(self) -> int:
        """Decoded bytes of all keys and values."""
        width = sum(heads * dim for heads, dim in self.layers)
        return self.n_tokens * width * (self.key_dtype.itemsize + self.value_dtype.itemsize)


@dataclass(frozen=True)
class Header:
    identity: BlobIdentity
    geometry: Geometry
    codec_id: int
    n_sections: int
    header_bytes: int
    total_bytes: int

    def pack(self) -> bytes:
        identity, geometry = self.identity, self.geometry
        fixed = _FIXED.pack(
            MAGIC,
            VERSION,
            self.codec_id,
            _READINGS[identity.reading],
            _DTYPES[geometry.key_dtype],
            _DTYPES[geometry.value_dtype],
            self.total_bytes,
            self.header_bytes,
            geometry.n_tokens,
            len(geometry.layers),
            self.n_sections,
            bytes.fromhex(identity.key),
            bytes.fromhex(identity.ids_hash),
            bytes.fromhex(identity.model_fingerprint),
            bytes.fromhex(identity.preamble_hash),
            bytes.fromhex(identity.conditioning_hash),
            bytes.fromhex(identity.profile_id),
        )
        return fixed + b"".join(_LAYER.pack(heads, dim) for heads, dim in geometry.layers)

    @classmethod
    def unpack(cls, data: memoryview) -> "Header":
        """Read and check all but the section table and checksums; `n_sections` and `header_bytes` are as stated.

        Raises: CorruptBlob.
        """
        if len(data) < FIXED_BYTES:
            raise CorruptBlob(f"{len(data)} bytes are no blob.")
        magic, version, codec_id, reading, key_dtype, value_dtype, *numbers_and_hashes = _FIXED.unpack_from(data)
        total_bytes, header_bytes, n_tokens, n_layers, n_sections, *hashes = numbers_and_hashes
        if magic != MAGIC or version != VERSION or data[_PADDING_AT]:
            raise CorruptBlob(f"Not a blob of format version {VERSION}.")
        if total_bytes != len(data) or header_bytes > total_bytes:
            raise CorruptBlob(f"The blob states {total_bytes} bytes, {header_bytes} of header, and has {len(data)}.")
        layers_end = FIXED_BYTES + n_layers * LAYER_BYTES
        if n_layers > MAX_LAYERS or layers_end > header_bytes:
            raise CorruptBlob(f"The header is too short for {n_layers} layers.")
        try:
            return cls(
                identity=_identity(_READING_OF[reading], hashes),
                geometry=Geometry(
                    n_tokens=n_tokens,
                    layers=tuple(_LAYER.iter_unpack(data[FIXED_BYTES:layers_end])),
                    key_dtype=_DTYPE_OF[key_dtype],
                    value_dtype=_DTYPE_OF[value_dtype],
                ),
                codec_id=codec_id,
                n_sections=n_sections,
                header_bytes=header_bytes,
                total_bytes=total_bytes,
            )
        except (KeyError, BadName, TooLarge) as error:
            raise CorruptBlob(f"The header is invalid: {error}") from error


def _identity(reading: Reading, hashes: list[bytes]) -> BlobIdentity:
    key, ids_hash, model_fingerprint, preamble_hash, conditioning_hash, profile_id = hashes
    return BlobIdentity(
        key=key.hex(),
        ids_hash=ids_hash.hex(),
        model_fingerprint=model_fingerprint.hex(),
        preamble_hash=preamble_hash.hex(),
        reading=reading,
        conditioning_hash=conditioning_hash.hex() if any(conditioning_hash) else "",
        profile_id=profile_id.hex() if any(profile_id) else "",
    )


__all__ = ["FIXED_BYTES", "LAYER_BYTES", "MAX_TOKENS", "VERSION", "Geometry", "Header"]
