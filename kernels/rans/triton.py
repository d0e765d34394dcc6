"""Interleaved rANS on the GPU: many sections in one launch, a warp for each section, a thread for each lane."""

from collections.abc import Sequence

import numpy as np
import torch
import triton  # type: ignore[import-untyped]
import triton.language as tl  # type: ignore[import-untyped]
from numpy.typing import NDArray
from torch import Tensor

from kernels.errors import BadShape
from kernels.rans.encoded import Encoded
from kernels.rans.tables import LOWEST_STATE, MAX_LANES, SCALE, SCALE_BITS, TOKENS_PER_LANE


def stack_sections(
    sections: Sequence[Encoded],
) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.uint32]]:
    """The sections' words behind one another, (sections + 1,) where each one's begin, and (sections, 16) states."""
    starts = np.zeros(len(sections) + 1, np.int64)
    starts[1:] = np.cumsum([len(section.words) for section in sections])
    states = np.full((len(sections), MAX_LANES), LOWEST_STATE, np.uint32)
    for row, section in zip(states, sections, strict=True):
        row[: len(section.states)] = section.states
    return np.concatenate([np.zeros(0, np.uint16), *(section.words for section in sections)]), starts, states


def decode_sections(
    words: Tensor,
    starts: Tensor,
    states: Tensor,
    planes: Tensor,
    bumps: Tensor,
    plane_counts: Tensor,
    token_counts: Tensor,
    slots: Tensor,
    movable: int,
) -> tuple[Tensor, Tensor]:
    """Decode the sections of `stack_sections`. Nothing waits for the GPU.

    Args:
        words: (words,) int16 or uint16 bits, of all sections.
        starts: (sections + 1,) int64, where each section's words begin.
        states: (sections, 16) int32 or uint32 bits.
        planes: (sections, planes) uint8, the table of each plane; bumps: (sections, tokens) uint8, see `Tables`.
        plane_counts, token_counts: (sections,) int32, how many of these a section has.
        slots, movable: of `Tables`; slots as (tables * 4096,) int32 or uint32 bits.
        All contiguous and on one device.
    Returns:
        symbols: (sections, planes, tokens) uint8; what lies beyond a section's own planes and tokens is unset.
        whole: (sections,) bool; False for a section that does not decode. Nothing outside the arguments is read or
            written even then.
    Raises: BadShape.
    """
    sections = len(token_counts)
    arguments = (words, starts, states, planes, bumps, plane_counts, token_counts, slots)
    if [tensor.dim() for tensor in arguments] != [1, 1, 2, 2, 2, 1, 1, 1]:
        raise BadShape(f"The arguments have shapes {[tuple(tensor.shape) for tensor in arguments]}.")
    if {len(starts) - 1, len(states), len(planes), len(bumps), len(plane_counts)} != {sections}:
        raise BadShape(f"The arguments are not all of {sections} sections.")
    if states.shape[1] != MAX_LANES or not len(slots) or len(slots) % SCALE:
        raise BadShape(f"A section has {MAX_LANES} states and a table {SCALE} slots.")
    if not all(tensor.is_contiguous() for tensor in arguments):
        raise BadShape("The arguments must be contiguous.")
    planes_max, tokens_max = planes.shape[1], bumps.shape[1]
    symbols = torch.empty(sections, planes_max, tokens_max, dtype=torch.uint8, device=words.device)
    whole = torch.empty(sections, MAX_LANES, dtype=torch.bool, device=words.device)
    if sections:
        _decode[(sections,)](
            *(*arguments, symbols, whole),
            *(len(words), len(slots) // SCALE, movable, planes_max, tokens_max),
            LANES=MAX_LANES,
            TOKENS_PER_LANE=TOKENS_PER_LANE,
            LOWEST_STATE=LOWEST_STATE,
            SCALE_BITS=SCALE_BITS,
            num_warps=1,
        )
    return symbols, whole.all(1)


@triton.jit(do_not_specialize=["word_count", "table_count", "movable", "planes_max", "tokens_max"])  # type: ignore[untyped-decorator]
def _decode(  # type: ignore[no-untyped-def]
    words,
    starts,
    states,
    planes,
    bumps,
    plane_counts,
    token_counts,
    slots,
    symbols,
    whole,
    word_count,
    table_count,
    movable,
    planes_max,
    tokens_max,
    LANES: tl.constexpr,  # noqa: N803
    TOKENS_PER_LANE: tl.constexpr,  # noqa: N803
    LOWEST_STATE: tl.constexpr,  # noqa: N803
    SCALE_BITS: tl.constexpr,  # noqa: N803
):
    section = tl.program_id(0).to(tl.int64)
    # As many as a warp has threads, though half of them idle: only then is `tl.reduce` a single instruction.
    lane = tl.arange(0, 32)
    lower_lanes = ((1 << lane) - 1).to(tl.uint32)
    said_planes, said_tokens = tl.load(plane_counts + section), tl.load(token_counts + section)
    plane_count, token_count = tl.minimum(said_planes, planes_max), tl.minimum(said_tokens, tokens_max)
    lanes = tl.minimum(tl.maximum(token_count // TOKENS_PER_LANE, 1), LANES)
    x = tl.load(states + section * LANES + lane, mask=lane < lanes, other=LOWEST_STATE).to(tl.uint32)
    start, end = tl.load(starts + section), tl.load(starts + section + 1)
    fits = (said_planes <= planes_max) & (said_tokens <= tokens_max) & (start >= 0) & (end <= word_count)
    known = lane >= 0
    at, limit = tl.maximum(start, 0), tl.minimum(end, word_count)
    for plane in range(plane_count):
        row = tl.load(planes + section * planes_max + plane).to(tl.int32)
        tables = tl.where(row < movable, movable, table_count)
        out = symbols + (section * planes_max + plane) * tokens_max
        for first in range(0, token_count, lanes):
            token = first + lane
            mine = (lane < lanes) & (token < token_count)
            bump = tl.load(bumps + section * tokens_max + token, mask=mine, other=0).to(tl.int32)
            table = row + tl.where(row < movable, bump, 0)
            known &= table < tables
            table = tl.minimum(table, table_count - 1)
            entry = tl.load(slots + (table << SCALE_BITS) + (x & ((1 << SCALE_BITS) - 1))).to(tl.uint32)
            tl.store(out + token, (entry >> 24).to(tl.uint8), mask=mine)
            # Below 2**12 * 2**20: no 32-bit product overflows, whatever the stream holds.
            state = (entry & ((1 << SCALE_BITS) - 1)) * (x >> SCALE_BITS)
            state += (entry >> SCALE_BITS) & ((1 << SCALE_BITS) - 1)
            low = mine & (state < LOWEST_STATE)
            reading = tl.reduce(tl.where(low, 1 << lane, 0), 0, _either).to(tl.uint32)
            place = at + _ones(reading & lower_lanes)
            word = tl.load(words + place, mask=low & (place < limit), other=0).to(tl.uint32) & 0xFFFF
            x = tl.where(mine, tl.where(low, (state << 16) | word, state), x)
            at += _ones(reading)
    ended = tl.where(fits & (at == end), known & (x == LOWEST_STATE), False)
    tl.store(whole + section * LANES + lane, ended, mask=lane < LANES)


@triton.jit
def _either(a, b):  # type: ignore[no-untyped-def]
    return a | b


@triton.jit
def _ones(bits):  # type: ignore[no-untyped-def]
    """How many bits of a uint32 are set: LLVM knows this form and makes one instruction of it."""
    bits -= (bits >> 1) & 0x55555555
    bits = (bits & 0x33333333) + ((bits >> 2) & 0x33333333)
    return (((bits + (bits >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24


__all__ = ["decode_sections", "stack_sections"]
