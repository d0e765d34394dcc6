"""Interleaved rANS in PyTorch: what the other backends must agree with, bit for bit.

All lanes take a step at once. A plane's step s codes the tokens s * lanes ... s * lanes + lanes - 1; in its last step
some lanes may have none. The lanes share one run of words, which each step reads in the order of its lanes.
"""

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from kernels.errors import BadShape, BadStream
from kernels.rans.encoded import Encoded
from kernels.rans.tables import LOWEST_STATE, SCALE, SCALE_BITS, SYMBOLS, Tables, lanes_of

_WORD_BITS = 16
_WORD = (1 << _WORD_BITS) - 1


def encode(symbols: Tensor, planes: Tensor, bumps: Tensor, tables: Tables) -> Encoded:
    """Code a section.

    Args:
        symbols: (planes, tokens) uint8, each of a frequency above 0 in its table.
        planes: (planes,) uint8, the table of each plane; bumps: (tokens,) uint8, see `Tables`. All on the CPU.
    Raises: BadShape.
    """
    if symbols.shape != (len(planes), len(bumps)) or symbols.dtype != torch.uint8:
        raise BadShape(f"{tuple(symbols.shape)} symbols are not of {len(planes)} planes and {len(bumps)} tokens.")
    mine, rows = _rows(planes, bumps, tables)
    index = rows * SYMBOLS + _by_step(symbols, mine)
    frequency = torch.from_numpy(tables.frequencies.astype(np.int64)).flatten()[index].where(mine, torch.tensor(1))
    start = torch.from_numpy(tables.starts.astype(np.int64)).flatten()[index]
    if not frequency.all():
        raise BadShape("A symbol has no frequency in its table.")
    states = torch.full(mine.shape[1:], LOWEST_STATE)
    words = torch.zeros_like(rows)
    written = torch.zeros_like(mine)
    for step in reversed(range(len(mine))):
        written[step] = mine[step] & (states >> (32 - SCALE_BITS) >= frequency[step])
        words[step] = states & _WORD
        lower = states.where(~written[step], states >> _WORD_BITS)
        coded = (lower // frequency[step] << SCALE_BITS) + lower % frequency[step] + start[step]
        states = coded.where(mine[step], states)
    return Encoded(states.numpy().astype(np.uint32), words[written].numpy().astype(np.uint16))


def decode(encoded: Encoded, planes: Tensor, bumps: Tensor, tables: Tables) -> Tensor:
    """Undo `encode` for the same `planes`, `bumps` and `tables`.

    Returns: (planes, tokens) uint8.
    Raises: BadShape. BadStream, if a lane does not end in the state its encoder began with or not all words are used.
        That is no checksum: damage can also decode, to other symbols. Past the last word zeros are read.
    """
    tokens = len(bumps)
    if len(encoded.states) != lanes_of(tokens):
        raise BadShape(f"{tokens} tokens are coded by {lanes_of(tokens)} lanes, not {len(encoded.states)}.")
    mine, rows = _rows(planes, bumps, tables)
    slots = torch.from_numpy(tables.slots.astype(np.int64))
    words = F.pad(torch.from_numpy(encoded.words.astype(np.int64)), (0, 1))
    missing = torch.tensor(len(words) - 1)
    states = torch.from_numpy(encoded.states.astype(np.int64))
    read = torch.tensor(0)
    symbols = torch.zeros_like(rows)
    for step, now in enumerate(mine):
        entry = slots[rows[step] * SCALE + (states & (SCALE - 1))]
        symbols[step] = entry >> 24
        state = (entry & (SCALE - 1)) * (states >> SCALE_BITS) + (entry >> SCALE_BITS & (SCALE - 1))
        low = now & (state < LOWEST_STATE)
        places = read + low.cumsum(0) - 1
        refilled = (state << _WORD_BITS | words[places.clamp(min=0).minimum(missing)]).where(low, state)
        states = refilled.where(now, states)
        read += low.sum()
    if read != missing or (states != LOWEST_STATE).any():
        raise BadStream("A section's symbols do not decode.")
    return symbols[mine].to(torch.uint8).view(len(planes), tokens)


def _rows(planes: Tensor, bumps: Tensor, tables: Tables) -> tuple[Tensor, Tensor]:
    """Two of (planes * steps, lanes): bool, whether a lane has a token; int64, its table. Raises: BadShape."""
    tables.check(planes.numpy(), bumps.numpy())
    lanes = lanes_of(len(bumps))
    steps = -(-len(bumps) // lanes) if lanes else 0
    mine = (torch.arange(steps * lanes) < len(bumps)).view(steps, lanes).repeat(len(planes), 1)
    row = planes.to(torch.int64)[:, None]
    return mine, _by_step(row + bumps.to(torch.int64).where(row < tables.movable, torch.tensor(0)), mine)


def _by_step(of_tokens: Tensor, mine: Tensor) -> Tensor:
    """(planes, tokens) as (planes * steps, lanes) int64, zeros where a lane has no token."""
    planes, tokens = of_tokens.shape
    missing = mine.numel() // planes - tokens if planes else 0
    return F.pad(of_tokens.to(torch.int64), (0, missing)).view(mine.shape)


__all__ = ["decode", "encode"]
