"""Capture: keys and values of pre-read chunks, taken before they enter the pages."""

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from generator.identity import capture_identity
from generator.vllm.metadata import CaptureTask
from generator.vllm.notes import Notes
from generator.vllm.pages import LayerPages, slots_of
from generator.vllm.ranks import Ranks
from kernels.rope import unrotate_keys
from kvstore.chunk_kv import ChunkKV
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.staging import write_staged

log = logging.getLogger(__name__)


@dataclass
class _Buffer:
    """One chunk being captured, as far as this rank's heads go; keys are still rotated. `seconds`: of its steps."""

    request_id: str
    identity: BlobIdentity
    start: int
    keys: list[Tensor]
    values: list[Tensor]
    filled: Tensor
    exact_keys: bool
    seconds: float = 0.0

    @property
    def missing(self) -> int:
        return int((~self.filled).any(dim=0).sum())


@dataclass(frozen=True)
class _Match:
    """Rows of a forward's keys and values, and the places in the buffer where they belong."""

    buffer: _Buffer
    rows: Tensor | slice
    places: Tensor | slice


class Capturer:
    """Sees every write into the pages and keeps the rows of requests that are being pre-read.

    A chunk is staged when every rank saw every token in every layer, over however many steps. Rank 0 stages it, with
    the heads of all. A request that finishes earlier leaves a note saying how many tokens are missing, and no staged
    file.
    """

    def __init__(
        self,
        layers: Sequence[LayerPages],
        block_size: int,
        fingerprint: str,
        staging: Path,
        notes: Notes,
        ranks: Ranks,
        kv_heads: int,
    ) -> None:
        self._layers = layers
        self._block_size = block_size
        self._fingerprint = fingerprint
        self._staging = staging
        self._notes = notes
        self._ranks = ranks
        self._kv_heads = kv_heads
        self._buffers: dict[str, _Buffer] = {}
        self._tasks: list[tuple[CaptureTask, Tensor]] = []
        self._matched_slots: Tensor | None = None
        self._matches: list[_Match] = []
        self._began = 0.0
        self._writer = ThreadPoolExecutor(1, "preread-staging", initializer=_on_one_core)
        for index, layer in enumerate(layers):
            self._wrap(index, layer)

    def begin_step(self, tasks: Sequence[CaptureTask]) -> None:
        """The step about to run computes these tasks' positions."""
        self._began = time.perf_counter()
        self._tasks = [
            (task, slots_of(task.block_ids, torch.arange(task.first, task.last), self._block_size)) for task in tasks
        ]
        for task in tasks:
            if task.vllm_request_id not in self._buffers:
                self._buffers[task.vllm_request_id] = self._new_buffer(task)

    def end_step(self) -> None:
        """Stage what is complete."""
        for task, _ in self._tasks:
            self._buffers[task.vllm_request_id].seconds += time.perf_counter() - self._began
        ids = [task.vllm_request_id for task, _ in self._tasks]
        whole = self._ranks.agree([self._buffers[each].missing == 0 for each in ids])
        for each in (each for each, is_whole in zip(ids, whole, strict=True) if is_whole):
            buffer = self._with_all_heads(self._buffers.pop(each))
            if self._ranks.leads:
                staged = self._writer.submit(self._stage, buffer)
                staged.add_done_callback(partial(self._note, buffer.request_id, buffer.seconds))
        self._tasks = []
        self._matched_slots, self._matches = None, []

    def finish(self, request_ids: set[str]) -> None:
        """These requests ended: whatever of them is not complete by now never will be."""
        ended = [self._buffers.pop(each) for each in sorted(request_ids & self._buffers.keys())]
        missing = self._ranks.highest([buffer.missing for buffer in ended])
        for buffer, count in zip(ended, missing, strict=True):
            problem = f"{count} of {buffer.filled.shape[1]} tokens were not computed"
            self._notes.write_capture(buffer.request_id, problem)

    @property
    def busy(self) -> bool:
        return bool(self._buffers)

    def close(self) -> None:
        self._writer.shutdown()

    def _wrap(self, index: int, layer: LayerPages) -> None:
        write = layer.impl.do_kv_cache_update

        def update(attention: nn.Module, key: Tensor, value: Tensor, cache: Tensor, slots: Tensor) -> None:
            if self._tasks:
                self._keep(index, key, value, slots)
            write(attention, key, value, cache, slots)

        layer.impl.do_kv_cache_update = update

    def _keep(self, index: int, key: Tensor, value: Tensor, slots: Tensor) -> None:
        # All layers of a forward are given the same slots: they are looked through once.
        if slots is not self._matched_slots:
            self._matches = list(self._match(slots))
            self._matched_slots = slots
        shape = (-1, *self._layers[index].shape)
        for found in self._matches:
            found.buffer.keys[index][found.places] = key.view(shape)[found.rows]
            found.buffer.values[index][found.places] = value.view(shape)[found.rows]
            found.buffer.filled[index, found.places] = True

    def _match(self, slots: Tensor) -> Iterator[_Match]:
        ordered, order = torch.sort(slots)
        for task, wanted in self._tasks:
            buffer = self._buffers[task.vllm_request_id]
            candidates = torch.searchsorted(ordered, wanted).clamp_(max=len(ordered) - 1)
            seen = ordered[candidates] == wanted
            places = torch.arange(task.first - buffer.start, task.last - buffer.start)[seen]
            if len(places):
                yield _Match(buffer, _as_slice(order[candidates[seen]]), _as_slice(places))

    def _with_all_heads(self, buffer: _Buffer) -> _Buffer:
        """On rank 0. In the thread that runs the model, since the ranks wait for each other."""
        keys, values = (
            [self._ranks.join_heads(share, self._kv_heads) for share in shares]
            for shares in (buffer.keys, buffer.values)
        )
        return replace(buffer, keys=keys, values=values)

    def _new_buffer(self, task: CaptureTask) -> _Buffer:
        target = task.request.segments[-1]

        def empty(layer: LayerPages) -> Tensor:
            return torch.empty(target.n_tokens, *layer.shape, dtype=layer.cache.dtype)

        return _Buffer(
            request_id=task.request.request_id,
            identity=capture_identity(task.request, task.token_ids, self._fingerprint),
            start=target.start,
            keys=[empty(layer) for layer in self._layers],
            values=[empty(layer) for layer in self._layers],
            filled=torch.zeros(len(self._layers), target.n_tokens, dtype=torch.bool),
            # The preamble is always put back where it was read: float32 keys come back bit for bit.
            exact_keys=target.start == 0 and task.request.capture is Reading.OPENING,
        )

    def _stage(self, buffer: _Buffer) -> None:
        positions = torch.arange(buffer.start, buffer.start + buffer.filled.shape[1])
        keys = []
        for layer, rotated in zip(self._layers, buffer.keys, strict=True):
            rotary = layer.rotary
            cos, sin = rotary.cos_sin(positions)
            flat = unrotate_keys(rotated, cos, sin, neox=rotary.neox, rotary_dim=rotary.rotary_dim)
            keys.append(flat if buffer.exact_keys else flat.to(rotated.dtype))
        write_staged(self._staging, buffer.identity, ChunkKV(tuple(keys), tuple(buffer.values)))

    def _note(self, request_id: str, seconds: float, staged: Future[None]) -> None:
        error = staged.exception()
        if error is not None:
            log.error("staging a captured chunk failed", exc_info=error)
        problem = f"it could not be staged: {error}" if error else None
        self._notes.write_capture(request_id, problem, seconds)


def _on_one_core() -> None:
    """For a thread beside the one that runs the model: helpers of its own would wait for work by spinning."""
    torch.get_num_threads()  # PyTorch sets a thread's number when it is first used there, and would set it again
    threadpool_limits(1, user_api="openmp")


def _as_slice(indices: Tensor) -> Tensor | slice:
    """(n,) indices as a slice where each follows the one before: that copies several times faster."""
    if bool((indices.diff() == 1).all()):
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices
