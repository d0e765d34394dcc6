"""Capture: keys and values of pre-read chunks, taken before they enter the pages."""

import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from generator.identity import capture_identity
from generator.vllm.metadata import CaptureTask
from generator.vllm.notes import Notes
from generator.vllm.pages import LayerPages, slots_of
from kernels.rope import unrotate_keys
from kvstore.chunk_kv import ChunkKV
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.staging import write_staged

log = logging.getLogger(__name__)


@dataclass
class _Buffer:
    """One chunk being captured; keys are still rotated."""

    request_id: str
    identity: BlobIdentity
    start: int
    keys: list[Tensor]
    values: list[Tensor]
    filled: Tensor
    exact_keys: bool

    @property
    def missing(self) -> int:
        return int((~self.filled).any(dim=0).sum())


class Capturer:
    """Sees every write into the pages and keeps the rows of requests that are being pre-read.

    A chunk is staged when every token was seen in every layer, over however many steps; a request that finishes
    earlier leaves a note saying how many tokens are missing, and no staged file.
    """

    def __init__(
        self, layers: Sequence[LayerPages], block_size: int, fingerprint: str, staging: Path, notes: Notes
    ) -> None:
        self._layers = layers
        self._block_size = block_size
        self._fingerprint = fingerprint
        self._staging = staging
        self._notes = notes
        self._buffers: dict[str, _Buffer] = {}
        self._tasks: list[tuple[CaptureTask, Tensor]] = []
        self._writer = ThreadPoolExecutor(1, "preread-staging")
        for index, layer in enumerate(layers):
            self._wrap(index, layer)

    def begin_step(self, tasks: Sequence[CaptureTask]) -> None:
        """The step about to run computes these tasks' positions."""
        self._tasks = [
            (task, slots_of(task.block_ids, torch.arange(task.first, task.last), self._block_size)) for task in tasks
        ]
        for task in tasks:
            if task.vllm_request_id not in self._buffers:
                self._buffers[task.vllm_request_id] = self._new_buffer(task)

    def end_step(self) -> None:
        """Stage what is complete."""
        for task, _ in self._tasks:
            buffer = self._buffers.get(task.vllm_request_id)
            if buffer is not None and buffer.missing == 0:
                del self._buffers[task.vllm_request_id]
                staged = self._writer.submit(self._stage, buffer)
                staged.add_done_callback(partial(self._note, buffer.request_id))
        self._tasks = []

    def finish(self, request_ids: set[str]) -> None:
        """These requests ended: whatever of them is not complete by now never will be."""
        for request_id in request_ids & self._buffers.keys():
            buffer = self._buffers.pop(request_id)
            problem = f"{buffer.missing} of {buffer.filled.shape[1]} tokens were not computed"
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
        kv_heads, dim = self._layers[index].shape
        ordered, order = torch.sort(slots)
        for task, wanted in self._tasks:
            buffer = self._buffers[task.vllm_request_id]
            places = torch.searchsorted(ordered, wanted).clamp_(max=len(ordered) - 1)
            seen = ordered[places] == wanted
            rows = order[places[seen]]
            at = torch.arange(task.first - buffer.start, task.last - buffer.start)[seen]
            buffer.keys[index][at] = key.view(-1, kv_heads, dim)[rows]
            buffer.values[index][at] = value.view(-1, kv_heads, dim)[rows]
            buffer.filled[index, at] = True

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

    def _note(self, request_id: str, staged: Future[None]) -> None:
        error = staged.exception()
        if error is not None:
            log.error("staging a captured chunk failed", exc_info=error)
        self._notes.write_capture(request_id, f"it could not be staged: {error}" if error else None)
