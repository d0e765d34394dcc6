"""What every codec does: a layer's keys and values into sections, and sections back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from kvstore.sections import TOKENS_PER_SECTION


@dataclass(frozen=True, eq=False)
class SectionJob:
    """One section to decode: `kind` 0 keys, 1 values; `out`: contiguous (tokens, kv_heads, head_dim), written into."""

    layer: int
    kind: int
    data: memoryview
    out: Tensor


class Codec(Protocol):
    """Stateless to its callers; used from several threads."""

    @property
    def id(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def profile_id(self) -> str:
        """Of the profile it codes with; empty: none."""

    def decoded_dtype(self, dtype: torch.dtype) -> torch.dtype:
        """What comes back of KV of `dtype`."""

    def encode_layer(self, layer: int, keys: Tensor, values: Tensor) -> list[bytes]:
        """The sections of (tokens, kv_heads, head_dim) keys, then those of the values, each in order.

        Raises: BadChunkKV for what the codec cannot hold.
        """

    def decode(self, jobs: Sequence[SectionJob]) -> None:
        """Decode sections of one blob. Raises: CorruptBlob when one does not decode to exactly its `out`."""


def runs(tensor: Tensor) -> tuple[Tensor, ...]:
    """A layer's tokens, section by section."""
    return torch.split(tensor, TOKENS_PER_SECTION)


def sixteen_bits(dtype: torch.dtype) -> torch.dtype:
    """What quantised KV comes back as: float16 stays float16, all else is bfloat16."""
    return torch.float16 if dtype is torch.float16 else torch.bfloat16


__all__ = ["Codec", "SectionJob", "runs", "sixteen_bits"]
