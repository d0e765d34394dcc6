"""Drift: what is left alone of a chunk moves as its fresh tokens moved.

A good part of how keys and values move in company is common to a chunk's tokens (docs/fusion-study.md). A recompute
forward learns it layer by layer: as soon as a layer's fresh keys and values are written, the other tokens of their
chunks are written anew, moved by what the fresh ones moved on average, and all that attends in that forward sees them
so.
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

_DOUBT = 2.0
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

    chunks, owners, positions, slots: (tokens,) int64; rest: (tokens,) bool, what is left alone.
    counts: (chunks,) float32, fresh tokens so far; `keys`, `values`: by layer the sum of their changes so far.
    """

    placed: list[Placed]
    chunks: Tensor
    owners: Tensor
    positions: Tensor
    slots: Tensor
    rest: Tensor
    counts: Tensor
    keys: dict[int, Tensor] = field(default_factory=dict)
    values: dict[int, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class _Forward:
    """`rows` of a forward are the tokens `at` of the chunks; the tokens `rest` of the same chunks follow them."""

    chunks: _Chunks
    rows: Tensor
    at: Tensor
    rest: Tensor


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
            write(attention, key, value, cache, slots)
            if self._forward is not None:
                keys, values, places = _moved(index, layer, self._forward, key.view(shape), value.view(shape))
                write(attention, keys.to(cache.dtype).contiguous(), values.to(cache.dtype), cache, places)

        layer.impl.do_kv_cache_update = update


def _stacked(requests: Sequence[Followed], block_size: int) -> _Chunks | None:
    """None where no chunk is fresh in part."""
    placed, owners, positions, slots, rest = [], [], [], [], []
    for request in requests:
        for each in request.placed:
            span = torch.arange(each.segment.start, each.segment.end)
            left = ~torch.isin(span, request.fresh)
            if left.all() or not left.any():
                continue
            placed.append(each)
            positions.append(span)
            owners.append(torch.full_like(span, request.owner))
            slots.append(slots_of(request.block_ids, span, block_size))
            rest.append(left)
    if not placed:
        return None
    chunks = torch.arange(len(placed)).repeat_interleave(torch.tensor([len(span) for span in positions]))
    return _Chunks(
        placed=placed,
        chunks=chunks,
        owners=torch.cat(owners),
        positions=torch.cat(positions),
        slots=torch.cat(slots),
        rest=torch.cat(rest),
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
    met = torch.bincount(chunks.chunks[at], minlength=len(chunks.placed))
    chunks.counts.add_(met)
    return _Forward(chunks, rows, at, (chunks.rest & (met > 0)[chunks.chunks]).nonzero()[:, 0])


def _moved(
    index: int, layer: LayerPages, forward: _Forward, key: Tensor, value: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """What to write of one layer: rotated keys and values (tokens, kv_heads, head_dim), and slots (tokens,).

    key, value: (rows, kv_heads, head_dim), of all the forward's rows, keys rotated.
    """
    chunks, at, rest, rotary = forward.chunks, forward.at, forward.rest, layer.rotary
    keys = torch.cat([placed.kv.keys[index] for placed in chunks.placed])
    values = torch.cat([placed.kv.values[index] for placed in chunks.placed])
    own, count = chunks.chunks[at], len(chunks.placed)
    cos, sin = rotary.cos_sin(chunks.positions[at])
    plain = unrotate_keys(key[forward.rows], cos, sin, neox=rotary.neox, rotary_dim=rotary.rotary_dim)
    for sums, fresh, cached in ((chunks.keys, plain, keys), (chunks.values, value[forward.rows], values)):
        changed = summed_changes(fresh, cached[at], own, count)
        sums[index] = sums[index] + changed if index in sums else changed
    follow = chunks.chunks[rest]
    shift = drift(chunks.keys[index], chunks.counts, _DOUBT)[follow]
    turned = rotary.rotate((keys[rest] + shift).to(keys.dtype), chunks.positions[rest])
    shift = drift(chunks.values[index], chunks.counts, _DOUBT)[follow]
    return turned, values[rest] + _VALUES_PART * shift, chunks.slots[rest]
