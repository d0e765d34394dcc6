"""Load: chunk KV into a request's pages, keys rotated to where the chunk stands in this prompt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from generator.fusion_request import Segment
from generator.vllm.pages import LayerPages, slots_of
from kvstore.chunk_kv import ChunkKV


@dataclass(frozen=True)
class Placed:
    """Decoded chunk KV and the segment it fills."""

    segment: Segment
    kv: ChunkKV

    def since(self, start: int) -> "Placed":
        """What of it stands at `start` or after it; something must."""
        skip = start - self.segment.start
        if skip <= 0:
            return self
        kv = ChunkKV(tuple(k[skip:] for k in self.kv.keys), tuple(v[skip:] for v in self.kv.values))
        return Placed(replace(self.segment, start=start), kv)


@dataclass(frozen=True)
class WrittenLayer:
    """What was written in one layer.

    positions: (tokens,) int64; keys, values: (tokens, kv_heads, head_dim), keys rotated.
    """

    positions: Tensor
    keys: Tensor
    values: Tensor


def write_chunks(
    placed: Sequence[Placed],
    layers: Sequence[LayerPages],
    block_ids: Sequence[int],
    block_size: int,
    keep: Collection[int],
) -> dict[int, WrittenLayer]:
    """Write all placed chunks, layer by layer.

    Returns what was written in the layers `keep`, by layer.
    """
    kept: dict[int, list[WrittenLayer]] = {index: [] for index in keep}
    # The preamble's keys are float32, the chunks' mostly are not.
    for dtype in {p.kv.keys[0].dtype: None for p in placed}:
        _write([p for p in placed if p.kv.keys[0].dtype == dtype], layers, block_ids, block_size, kept)
    return {index: _join(written) for index, written in kept.items() if written}


def _write(
    placed: Sequence[Placed],
    layers: Sequence[LayerPages],
    block_ids: Sequence[int],
    block_size: int,
    kept: dict[int, list[WrittenLayer]],
) -> None:
    positions = torch.cat([torch.arange(p.segment.start, p.segment.end) for p in placed])
    slots = slots_of(block_ids, positions, block_size)
    for index, layer in enumerate(layers):
        keys = layer.rotary.rotate(torch.cat([p.kv.keys[index] for p in placed]), positions)
        values = torch.cat([p.kv.values[index] for p in placed])
        layer.write(keys, values, slots)
        if index in kept:
            kept[index].append(WrittenLayer(positions, keys, values))


def _join(parts: Sequence[WrittenLayer]) -> WrittenLayer:
    return WrittenLayer(
        torch.cat([part.positions for part in parts]),
        torch.cat([part.keys.to(torch.float32) for part in parts]),
        torch.cat([part.values.to(torch.float32) for part in parts]),
    )
