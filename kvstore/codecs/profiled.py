"""Quantised with a model's profile and entropy-coded with its tables. See docs/codec.md.

A section's tokens become coefficients, coefficients whole numbers, these symbols. Back, it is one matrix product a
head.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kernels.errors import BadShape, BadStream
from kernels.quantise import numbers_of, quantise
from kernels.rans.numba import decode, encode
from kvstore.basis import CLASSES_PER_OCTAVE
from kvstore.codecs.base import SectionJob, runs, sixteen_bits
from kvstore.codecs.section import EXCEPTION_BYTES, CodedSection, exceptions_of
from kvstore.errors import BadChunkKV, CorruptBlob
from kvstore.plan import Plan, SectionPlan
from kvstore.profile import Profile


class ProfiledCodec:
    """One preset of one profile."""

    def __init__(self, profile: Profile, preset: str) -> None:
        self.plan: Plan = profile.plan(preset)
        self.name = preset
        self.id = self.plan.preset.number
        self.profile_id = profile.id

    def decoded_dtype(self, dtype: torch.dtype) -> torch.dtype:
        return sixteen_bits(dtype)

    def encode_layer(self, layer: int, keys: Tensor, values: Tensor) -> list[bytes]:
        if layer >= self.plan.layers or keys[0].numel() != self.plan.width:
            raise BadChunkKV(
                f"Layer {layer} of {keys[0].numel()} values a token is not of the profile's model.",
                "Run `preread calibrate` for this model.",
            )
        dtype = sixteen_bits(keys.dtype)
        wide = [tensor.detach().reshape(len(tensor), -1).to(torch.float32) for tensor in (keys, values)]
        largest = torch.finfo(dtype).max
        # A NaN compares as false.
        if not all(bool(tensor.amax() <= largest) and bool(tensor.amin() >= -largest) for tensor in wide):
            raise BadChunkKV(f"Layer {layer} holds NaN or infinity.", "Only the preset lossless keeps those.")
        return [
            self._encode(run, levels, self.plan.section(layer, kind), dtype).pack()
            for kind, tensor in enumerate(wide)
            for run, levels in zip(runs(tensor), self._levels(layer, kind, wide), strict=True)
        ]

    def _levels(self, layer: int, kind: int, wide: Sequence[Tensor]) -> list[NDArray[np.uint8]]:
        return [run.numpy() for run in runs(self.plan.levels(layer, kind, *wide).to(torch.uint8))]

    def _encode(self, run: Tensor, levels: NDArray[np.uint8], plan: SectionPlan, dtype: torch.dtype) -> CodedSection:
        steps = plan.steps(run)
        whole = np.zeros(len(run), bool)
        while True:
            coded = ~whole
            bumps = levels[coded] * np.uint8(CLASSES_PER_OCTAVE)
            symbols, exceptions = quantise(
                steps[coded] if whole.any() else steps,
                _gains(levels[coded]),
                bumps,
                plan.shifts,
                plan.anchored_channels,
                plan.planes,
                self.plan.tables,
                self.plan.preset.anchor_tokens,
            )
            # A row costs as much as that many exceptions.
            dear = np.bincount(exceptions[:, 1], minlength=len(bumps)) > run.shape[1] * 2 // EXCEPTION_BYTES
            if not dear.any():
                break
            whole[np.flatnonzero(coded)[dear]] = True
        return CodedSection(
            rows=np.flatnonzero(whole).astype(np.uint16),
            row_bits=run[torch.from_numpy(whole)].to(dtype).view(torch.uint16).numpy(),
            exceptions=exceptions_of(exceptions),
            levels=levels[coded],
            stream=encode(symbols, plan.planes, bumps, self.plan.tables),
        )

    def decode(self, jobs: Sequence[SectionJob]) -> None:
        for (layer, kind), group in groupby(jobs, key=lambda job: (job.layer, job.kind)):
            try:
                self._decode(layer, kind, list(group))
            except (BadShape, BadStream) as error:
                raise CorruptBlob(f"A section does not decode: {error.message}") from error

    def _decode(self, layer: int, kind: int, jobs: Sequence[SectionJob]) -> None:
        """Sections of one layer's keys or values: decoded each by itself, then one matrix product for all."""
        width = self.plan.width
        if layer >= self.plan.layers or any(job.out[0].numel() != width for job in jobs):
            raise CorruptBlob("A section is not of the profile's model.")
        plan = self.plan.section(layer, kind)
        sections = [CodedSection.unpack(job.data, len(job.out), width) for job in jobs]
        starts = np.cumsum([0, *(len(section.levels) for section in sections)])
        symbols = np.empty((len(plan.planes), starts[-1]), np.uint8)
        levels = np.concatenate([section.levels for section in sections])
        for section, first in zip(sections, starts, strict=False):
            bumps = section.levels * np.uint8(CLASSES_PER_OCTAVE)
            decode(section.stream, plan.planes, bumps, self.plan.tables, symbols, int(first))
        numbers = np.empty(symbols.shape, np.float32)
        numbers_of(symbols, _gains(levels), numbers)
        for section, first in zip(sections, starts, strict=False):
            self._restore(numbers[:, first : first + len(section.levels)], section, plan)
        decoded = plan.values(torch.from_numpy(numbers))
        for job, section, first in zip(jobs, sections, starts, strict=False):
            _place(decoded[first : first + len(section.levels)], section, job.out.view(len(job.out), width))

    def _restore(self, numbers: NDArray[np.float32], section: CodedSection, plan: SectionPlan) -> None:
        """Put exceptions in, and add anchors to what was coded as the difference to them; in place."""
        found = section.exceptions
        if len(found):
            if int(found["plane"].max()) >= len(numbers):
                raise CorruptBlob("An exception is of a plane that is not there.")
            numbers[found["plane"], found["token"]] = found["value"] / _gains(section.levels[found["token"]])
        if plan.anchored.any():
            tokens = np.arange(numbers.shape[1])
            follows = tokens % self.plan.preset.anchor_tokens != 0
            anchors = tokens - tokens % self.plan.preset.anchor_tokens
            numbers[np.ix_(plan.anchored, follows)] += numbers[np.ix_(plan.anchored, anchors[follows])]


def _gains(levels: NDArray[np.uint8]) -> NDArray[np.float32]:
    return np.exp2(levels, dtype=np.float32)


def _place(decoded: Tensor, section: CodedSection, out: Tensor) -> None:
    """Write the coded tokens, and between them those kept whole, into (tokens, width) `out`."""
    if len(section.rows) == 0:
        out.copy_(decoded)
        return
    whole = torch.zeros(len(out), dtype=torch.bool)
    whole[torch.from_numpy(section.rows.astype(np.int64))] = True
    out[~whole] = decoded.to(out.dtype)
    out[whole] = torch.from_numpy(section.row_bits.astype(np.uint16)).view(out.dtype)


__all__ = ["ProfiledCodec"]
