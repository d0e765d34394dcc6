"""Quantised with a model's profile and entropy-coded with its tables. See docs/codec.md.

A section's tokens become coefficients, coefficients whole numbers, these symbols. Back, it is one matrix product a
head.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kernels.errors import BadShape, BadStream
from kernels.quantise import quantise
from kernels.rans.numba import decode, encode
from kernels.synthesis import synthesise
from kvstore.basis import CLASSES_PER_OCTAVE, MAX_LEVEL
from kvstore.codecs.base import SectionJob, runs, sixteen_bits
from kvstore.codecs.section import EXCEPTION_BYTES, CodedSection
from kvstore.errors import BadChunkKV, CorruptBlob
from kvstore.plan import Plan, SectionPlan
from kvstore.profile import Profile

_GAINS = np.exp2(np.arange(MAX_LEVEL + 1)).astype(np.float32)  # of each level
_SCALES = 1 / _GAINS
_NO_ROWS = np.empty(0, np.int64)


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
        levels = self.plan.levels(layer, *wide)
        return [
            self._encode(run, run_levels.numpy(), self.plan.section(layer, kind), dtype).pack()
            for kind, tensor in enumerate(wide)
            for run, run_levels in zip(runs(tensor), runs(levels[kind]), strict=True)
        ]

    def _encode(self, run: Tensor, levels: NDArray[np.uint8], plan: SectionPlan, dtype: torch.dtype) -> CodedSection:
        steps = plan.steps(run)
        coded = np.arange(len(run))
        # A row kept whole costs as much as that many exceptions.
        most = run.shape[1] * 2 // EXCEPTION_BYTES
        while True:
            bumps = levels * np.uint8(CLASSES_PER_OCTAVE)
            symbols, exceptions = quantise(
                steps,
                _GAINS[levels],
                bumps,
                plan.shifts,
                plan.anchored,
                plan.synthesis.planes,
                self.plan.tables,
                plan.synthesis.group,
            )
            if len(exceptions) <= most:
                break
            cheap = np.bincount(exceptions[:, 1], minlength=len(coded)) <= most
            if cheap.all():
                break
            coded, levels, steps = coded[cheap], levels[cheap], np.ascontiguousarray(steps[:, cheap])
        rows = np.setdiff1d(np.arange(len(run)), coded) if len(coded) < len(run) else _NO_ROWS
        return CodedSection(
            rows=rows.astype(np.uint16),
            row_bits=run[torch.from_numpy(rows)].to(dtype).view(torch.uint16).numpy(),
            exceptions=exceptions,
            levels=levels,
            stream=encode(symbols, plan.synthesis.planes, bumps, self.plan.tables),
        )

    def decode(self, jobs: Sequence[SectionJob]) -> None:
        for job in jobs:
            try:
                self._decode(job)
            except (BadShape, BadStream) as error:
                raise CorruptBlob(f"A section does not decode: {error.message}") from error

    def _decode(self, job: SectionJob) -> None:
        tokens, width = job.out.shape[0], self.plan.width
        if job.layer >= self.plan.layers or job.out.numel() != tokens * width:
            raise CorruptBlob("A section is not of the profile's model.")
        section = CodedSection.unpack(job.data, tokens, width)
        synthesis = self.plan.section(job.layer, job.kind).synthesis
        symbols = np.empty((len(synthesis.planes), len(section.levels)), np.uint8)
        bumps = section.levels * np.uint8(CLASSES_PER_OCTAVE)
        decode(section.stream, synthesis.planes, bumps, self.plan.tables, symbols)
        decoded = synthesise(symbols, _SCALES[section.levels], section.exceptions, synthesis)
        _place(torch.from_numpy(decoded), section, job.out.view(tokens, width))


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
