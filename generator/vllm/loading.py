"""Load: chunk KV into a request's pages, keys rotated to where the chunk stands in this prompt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    placed = [_from(p, start) for p in placed if p.segment.end > start]
    if not placed:
        return
    positions = torch.cat([torch.arange(p.segment.start, p.segment.end) for p in placed])
    slots = slots_of(block_ids, positions, block_size)
    tables: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
    for index, layer in enumerate(layers):
        rotary = layer.rotary
        if id(rotary) not in tables:
            tables[id(rotary)] = rotary.cos_sin(positions)
        cos, sin = tables[id(rotary)]
        keys = torch.cat([p.kv.keys[index].to(torch.float32) for p in placed])
        values = torch.cat([p.kv.values[index] for p in placed])
        layer.write(rotate_keys(keys, cos, sin, neox=rotary.neox, rotary_dim=rotary.rotary_dim), values, slots)


def _from(placed: Placed, start: int) -> Placed:
    """What of a placed chunk stands at `start` or after it."""
    skip = start - placed.segment.start
    if skip <= 0:
        return placed
    kv = ChunkKV(tuple(k[skip:] for k in placed.kv.keys), tuple(v[skip:] for v in placed.kv.values))
    return Placed(replace(placed.segment, start=start), kv)
