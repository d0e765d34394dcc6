"""vLLM's paged KV cache, written through the attention backend's own writer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from vllm.model_executor.layers.attention import Attention

from generator.vllm.rotary import Rotary


class PagedAttention(Protocol):
    """What we use of a backend's attention implementation; vLLM's own base class does not declare the writer."""

    scale: float
    do_kv_cache_update: Callable[[nn.Module, Tensor, Tensor, Tensor, Tensor], None]
    forward: Callable[..., Tensor]


@dataclass(frozen=True)
class LayerPages:
    """One attention layer with its pages (private layout) and its rotary table."""

    name: str
    attention: Attention
    cache: Tensor
    rotary: Rotary

    @property
    def shape(self) -> tuple[int, int]:
        """(kv_heads, head_dim)."""
        return self.attention.num_kv_heads, self.attention.head_size

    @property
    def impl(self) -> PagedAttention:
        return cast("PagedAttention", self.attention.impl)

    def write(self, keys: Tensor, values: Tensor, slots: Tensor) -> None:
        """Store rotated keys and values, each (tokens, kv_heads, head_dim) of any float dtype, at (tokens,) slots."""
        dtype = self.cache.dtype
        self.impl.do_kv_cache_update(
            self.attention, keys.to(dtype).contiguous(), values.to(dtype).contiguous(), self.cache, slots
        )


def slots_of(block_ids: Sequence[int], positions: Tensor, block_size: int) -> Tensor:
    """Slots (tokens,) int64 of a request's `positions` (tokens,) under its block table."""
    blocks = torch.tensor(block_ids, dtype=torch.int64)
    return blocks[positions // block_size] * block_size + positions % block_size
