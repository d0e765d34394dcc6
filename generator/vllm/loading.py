"""Load: chunk KV into a request's pages, keys rotated to where the chunk stands in this prompt."""

from collections.abc import Callable, Collection, Sequence
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


@dataclass(frozen=True)
class _Batch:
    """Placed chunks whose keys have one dtype: positions and slots are (tokens,) int64, in the order of the chunks."""

    placed: tuple[Placed, ...]
    positions: Tensor
    slots: Tensor


def write_chunks(
    placed: Sequence[Placed],
    layers: Sequence[LayerPages],
    block_ids: Sequence[int],
    block_size: int,
    keep: Collection[int],
    arrived: Callable[[int], bool],
) -> dict[int, WrittenLayer]:
    """Write all placed chunks, layer by layer.

    arrived: waits until a layer of every placed chunk is decoded. False: it never will be, and writing ends there.
    Returns what was written in the layers `keep`, by layer.
    """
    batches = _batches(placed, block_ids, block_size)
    kept: dict[int, WrittenLayer] = {}
    for index, layer in enumerate(layers):
        if not arrived(index):
            break
        written = [_write(batch, index, layer) for batch in batches]
        if written and index in keep:
            kept[index] = _join(written)
    return kept


def _batches(placed: Sequence[Placed], block_ids: Sequence[int], block_size: int) -> list[_Batch]:
    batches = []
    # The preamble's keys are float32, the chunks' mostly are not.
    for dtype in {p.kv.keys[0].dtype: None for p in placed}:
        alike = tuple(p for p in placed if p.kv.keys[0].dtype == dtype)
        positions = torch.cat([torch.arange(p.segment.start, p.segment.end) for p in alike])
        batches.append(_Batch(alike, positions, slots_of(block_ids, positions, block_size)))
    return batches


def _write(batch: _Batch, index: int, layer: LayerPages) -> WrittenLayer:
    keys = layer.rotary.rotate(torch.cat([p.kv.keys[index] for p in batch.placed]), batch.positions)
    values = torch.cat([p.kv.values[index] for p in batch.placed])
    layer.write(keys, values, batch.slots)
    return WrittenLayer(batch.positions, keys, values)


def _join(parts: Sequence[WrittenLayer]) -> WrittenLayer:
    return WrittenLayer(
        torch.cat([part.positions for part in parts]),
        torch.cat([part.keys.to(torch.float32) for part in parts]),
        torch.cat([part.values.to(torch.float32) for part in parts]),
    )
