"""Load: chunk KV into a request's pages, keys rotated to where the chunk stands in this prompt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from generator.fusion_request import Segment
from generator.vllm.pages import LayerPages, slots_of
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
    wanted = [_from(p, start) for p in placed if p.segment.end > start]
    # The preamble's keys are float32, the chunks' mostly are not.
    for dtype in {p.kv.keys[0].dtype for p in wanted}:
        _write([p for p in wanted if p.kv.keys[0].dtype == dtype], layers, block_ids, block_size)


def _write(
    placed: Sequence[Placed], layers: Sequence[LayerPages], block_ids: Sequence[int], block_size: int
) -> None:
    positions = torch.cat([torch.arange(p.segment.start, p.segment.end) for p in placed])
    slots = slots_of(block_ids, positions, block_size)
    for index, layer in enumerate(layers):
        keys = torch.cat([p.kv.keys[index] for p in placed])
        values = torch.cat([p.kv.values[index] for p in placed])
        layer.write(layer.rotary.rotate(keys, positions), values, slots)


def _from(placed: Placed, start: int) -> Placed:
    """What of a placed chunk stands at `start` or after it."""
    skip = start - placed.segment.start
    if skip <= 0:
        return placed
    kv = ChunkKV(tuple(k[skip:] for k in placed.kv.keys), tuple(v[skip:] for v in placed.kv.values))
    return Placed(replace(placed.segment, start=start), kv)
