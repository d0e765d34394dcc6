"""Runs: contiguous stretches of fresh positions, each a pseudo-sequence of one forward."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Runs:
    """Positions of one forward, cut into runs.

    positions: (tokens,) int64; those of one owner stand together and ascend.
    owners: (runs,) int64, which request each run belongs to.
    starts: (runs + 1,) int32; run r is positions[starts[r]:starts[r + 1]].
    lengths: (runs,) int32; each run's sequence length, its last position + 1.
    """

    positions: Tensor
    owners: Tensor
    starts: Tensor
    lengths: Tensor

    @property
    def count(self) -> int:
        return len(self.lengths)

    @property
    def longest(self) -> int:
        return int((self.starts[1:] - self.starts[:-1]).max())

    @property
    def token_owners(self) -> Tensor:
        """(tokens,) int64, the owner of each position."""
        return self.owners.repeat_interleave((self.starts[1:] - self.starts[:-1]).to(torch.int64))


def cut_runs(positions: Tensor, owners: Tensor) -> Runs:
    """Cut positions (tokens,) wherever the next one does not follow or has another owner (tokens,). Needs at least one.
    """
    breaks = torch.nonzero((positions[1:] != positions[:-1] + 1) | (owners[1:] != owners[:-1]))[:, 0] + 1
    edges = torch.cat([breaks.new_zeros(1), breaks, breaks.new_tensor([len(positions)])])
    lengths = positions[edges[1:] - 1] + 1
    return Runs(positions, owners[edges[:-1]], edges.to(torch.int32), lengths.to(torch.int32))


def slices(wanted: Sequence[Tensor], max_tokens: int, max_runs: int) -> Iterator[Runs]:
    """Successive forwards over the ascending positions wanted of each request, in order, none over `max_tokens` tokens
    or `max_runs` runs.

    Earlier slices are written before later ones attend to them, so causality holds across slices. Where a request is
    cut depends on nothing but itself, so that it computes the same in company as alone.
    """
    taken: list[Runs] = []
    for owner, positions in enumerate(wanted):
        for piece in _pieces(positions, owner, max_tokens, max_runs):
            tokens = sum(len(runs.positions) for runs in taken) + len(piece.positions)
            if tokens > max_tokens or sum(runs.count for runs in taken) + piece.count > max_runs:
                yield _joined(taken)
                taken = []
            taken.append(piece)
    if taken:
        yield _joined(taken)


def _pieces(positions: Tensor, owner: int, max_tokens: int, max_runs: int) -> Iterator[Runs]:
    """One request's positions in as few forwards as they fit."""
    while len(positions):
        runs = cut_runs(positions[:max_tokens], torch.full_like(positions[:max_tokens], owner))
        if runs.count > max_runs:
            last = int(runs.starts[max_runs])
            runs = cut_runs(positions[:last], torch.full_like(positions[:last], owner))
        yield runs
        positions = positions[len(runs.positions) :]


def _joined(pieces: Sequence[Runs]) -> Runs:
    positions = torch.cat([runs.positions for runs in pieces])
    return cut_runs(positions, torch.cat([runs.token_owners for runs in pieces]))
