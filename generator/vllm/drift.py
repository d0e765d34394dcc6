"""Drift: what is left alone of a chunk moves as its fresh tokens moved.

A good part of how keys and values move in company is common to a chunk's tokens (docs/fusion-study.md). A recompute
forward learns it layer by layer: before a layer's fresh keys and values are written, their chunks are written anew as a
whole, moved by what the fresh tokens moved on average, and whatever attends in that forward sees them so.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from generator.runs import Runs
from generator.vllm.loading import Placed
from generator.vllm.pages import LayerPages, slots_of
from kernels.drift import drift, summed_changes
from kernels.rope import unrotate_keys

_VALUES_PART = 0.5
"""Values have less in common than keys, and the tokens that the question chose tell less of it."""


@dataclass(frozen=True)
class Followed:
    """A request whose chunks move. `owner`: the index of its job; `fresh`: (tokens,) int64, what the job computes."""

    owner: int
    block_ids: Sequence[int]
    placed: Sequence[Placed]
    fresh: Tensor


@dataclass(frozen=True)
class _Chunks:
    """All tokens of the chunks that are made fresh in part, one chunk behind the other.

    chunks, owners, positions, slots: (tokens,) int64; `counts`: (chunks,) float32, fresh tokens so far.
    """

    placed: list[Placed]
    chunks: Tensor
    owners: Tensor
    positions: Tensor
    slots: Tensor
    counts: Tensor
    layers: dict[int, "_Layer"] = field(default_factory=dict)
    _memory: dict[tuple[str, torch.Size], Tensor] = field(default_factory=dict)

    def loaded(self, index: int) -> tuple[Tensor, Tensor]:
        """What was loaded in one layer: keys and values, (tokens, kv_heads, head_dim), until the next call."""
        keys = self._joined("keys", [placed.kv.keys[index] for placed in self.placed])
        return keys, self._joined("values", [placed.kv.values[index] for placed in self.placed])

    def _joined(self, kind: str, parts: list[Tensor]) -> Tensor:
        """One behind the other, in the same memory for all layers: new memory takes longer than the copy."""
        memory = self._memory.get((kind, parts[0].shape[1:]))
        if memory is not None:
            return torch.cat(parts, out=memory)
        return self._memory.setdefault((kind, parts[0].shape[1:]), torch.cat(parts))


@dataclass
class _Layer:
    """What one layer's fresh tokens have told so far.

    keys, values: (chunks, kv_heads, head_dim) float32, sums of changes, keys un-rotated. `written`: keys (rotated),
    values and slots of the fresh tokens of each forward.
    """

    keys: Tensor
    values: Tensor
    written: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list)


@dataclass(frozen=True)
class _Forward:
    """The `rows` of a forward are the tokens `at` of the chunks."""

    chunks: _Chunks
    rows: Tensor
    at: Tensor


class Drift:
    """Wraps every layer's writer; does nothing outside the forwards that it follows."""

    def __init__(self, layers: Sequence[LayerPages], block_size: int) -> None:
        self._block_size = block_size
        self._forward: _Forward | None = None
        for index, layer in enumerate(layers):
            self._wrap(index, layer)

    def of(self, requests: Sequence[Followed]) -> Callable[[Runs], AbstractContextManager[None]]:
        """What goes around each forward of one recompute. A chunk whose fresh tokens take several forwards is moved by
        all that came so far."""
        chunks = _stacked(requests, self._block_size)
        return lambda runs: self._following(chunks, runs)

    @contextmanager
    def _following(self, chunks: _Chunks | None, runs: Runs) -> Iterator[None]:
        self._forward = None if chunks is None else _met(chunks, runs)
        try:
            yield
        finally:
            self._forward = None

    def _wrap(self, index: int, layer: LayerPages) -> None:
        write = layer.impl.do_kv_cache_update
        shape = (-1, *layer.shape)

        def update(attention: nn.Module, key: Tensor, value: Tensor, cache: Tensor, slots: Tensor) -> None:
            if self._forward is not None:
                for keys, values, places in _moved(index, layer, self._forward, key.view(shape), value.view(shape)):
                    write(attention, keys.to(cache.dtype), values.to(cache.dtype), cache, places)
            write(attention, key, value, cache, slots)

        layer.impl.do_kv_cache_update = update


def _stacked(requests: Sequence[Followed], block_size: int) -> _Chunks | None:
    """None where no chunk is fresh in part."""
    placed, owners, positions, slots = [], [], [], []
    for request in requests:
        for each in request.placed:
            span = torch.arange(each.segment.start, each.segment.end)
            fresh = torch.isin(span, request.fresh)
            if fresh.all() or not fresh.any():
                continue
            placed.append(each)
            positions.append(span)
            owners.append(torch.full_like(span, request.owner))
            slots.append(slots_of(request.block_ids, span, block_size))
    if not placed:
        return None
    return _Chunks(
        placed=placed,
        chunks=torch.arange(len(placed)).repeat_interleave(torch.tensor([len(span) for span in positions])),
        owners=torch.cat(owners),
        positions=torch.cat(positions),
        slots=torch.cat(slots),
        counts=torch.zeros(len(placed)),
    )


def _met(chunks: _Chunks, runs: Runs) -> _Forward | None:
    """None where no token of a chunk is in this forward."""
    longest = int(torch.cat([runs.positions, chunks.positions]).max()) + 1
    wanted = chunks.owners * longest + chunks.positions
    order = wanted.argsort()
    present = runs.token_owners * longest + runs.positions
    place = torch.searchsorted(wanted[order], present).clamp_max(len(order) - 1)
    rows = (wanted[order][place] == present).nonzero()[:, 0]
    if not len(rows):
        return None
    at = order[place[rows]]
    chunks.counts.add_(torch.bincount(chunks.chunks[at], minlength=len(chunks.placed)))
    return _Forward(chunks, rows, at)


def _moved(
    index: int, layer: LayerPages, forward: _Forward, key: Tensor, value: Tensor
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """What to write of one layer, in order: the chunks as they moved, then what earlier forwards made fresh of them.

    key, value: (rows, kv_heads, head_dim), of all the forward's rows, keys rotated. Returns contiguous keys and values
    (tokens, kv_heads, head_dim) and slots (tokens,).
    """
    chunks, at, rotary = forward.chunks, forward.at, layer.rotary
    own, count = chunks.chunks[at], len(chunks.placed)
    fresh_keys, fresh_values = key[forward.rows], value[forward.rows]
    cos, sin = rotary.cos_sin(chunks.positions[at])
    plain = unrotate_keys(fresh_keys, cos, sin, neox=rotary.neox, rotary_dim=rotary.rotary_dim)
    told = chunks.layers.setdefault(index, _Layer(*torch.zeros(2, count, *key.shape[1:])))
    keys, values = chunks.loaded(index)
    told.keys += summed_changes(plain, keys[at], own, count)
    told.values += summed_changes(fresh_values, values[at], own, count)
    _move(keys, chunks.placed, drift(told.keys, chunks.counts))
    _move(values, chunks.placed, _VALUES_PART * drift(told.values, chunks.counts))
    earlier = list(told.written)
    told.written.append((fresh_keys, fresh_values, chunks.slots[at]))
    return [(rotary.rotate(keys, chunks.positions), values, chunks.slots), *earlier]


def _move(tokens: Tensor, placed: Sequence[Placed], shifts: Tensor) -> None:
    """Add each chunk's shift (kv_heads, head_dim) to its tokens, in place."""
    end = 0
    for each, shift in zip(placed, shifts, strict=True):
        start, end = end, end + each.segment.n_tokens
        tokens[start:end] += shift
