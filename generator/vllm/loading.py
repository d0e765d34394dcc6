"""Load: chunk KV into a request's pages, keys rotated to where the chunk stands in this prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from generator.fusion_request import Segment
from generator.vllm.pages import LayerPages, slots_of
from kernels.rope import rotate_keys
from kvstore.chunk_kv import ChunkKV


@dataclass(frozen=True)
class Placed:
    """Decoded chunk KV and the segment it fills."""

    segment: Segment
    kv: ChunkKV


def write_chunks(
    placed: Sequence[Placed], layers: Sequence[LayerPages], block_ids: Sequence[int], block_size: int, start: int
) -> None:
    """Write all placed chunks, layer by layer; positions before `start` belong to others and are left alone."""
    if not placed:
        return
    positions = torch.cat([torch.arange(p.segment.start, p.segment.end) for p in placed])
    mine = positions >= start
    positions = positions[mine]
    slots = slots_of(block_ids, positions, block_size)
    tables: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
    for index, layer in enumerate(layers):
        rotary = layer.rotary
        if id(rotary) not in tables:
            tables[id(rotary)] = rotary.cos_sin(positions)
        cos, sin = tables[id(rotary)]
        keys = torch.cat([p.kv.keys[index].to(torch.float32) for p in placed])[mine]
        values = torch.cat([p.kv.values[index] for p in placed])[mine]
        layer.write(rotate_keys(keys, cos, sin, neox=rotary.neox, rotary_dim=rotary.rotary_dim), values, slots)
