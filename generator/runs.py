"""Runs: contiguous stretches of fresh positions, each a pseudo-sequence of one forward."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Runs:
    """Positions of one forward, cut into runs.

    positions: (tokens,) int64, ascending.
    starts: (runs + 1,) int32; run r is positions[starts[r]:starts[r + 1]].
    lengths: (runs,) int32; each run's sequence length, its last position + 1.
    """

    positions: Tensor
    starts: Tensor
    lengths: Tensor

    @property
    def count(self) -> int:
        return len(self.lengths)

    @property
    def longest(self) -> int:
        return int((self.starts[1:] - self.starts[:-1]).max())


def cut_runs(positions: Tensor) -> Runs:
    """Cut ascending positions (tokens,) wherever the next one does not follow. Needs at least one position."""
    breaks = torch.nonzero(positions[1:] != positions[:-1] + 1)[:, 0] + 1
    edges = torch.cat([breaks.new_zeros(1), breaks, breaks.new_tensor([len(positions)])])
    lengths = positions[edges[1:] - 1] + 1
    return Runs(positions, edges.to(torch.int32), lengths.to(torch.int32))


def slices(positions: Tensor, max_tokens: int, max_runs: int) -> Iterator[Runs]:
    """Successive forwards over `positions`, in order, none over `max_tokens` tokens or `max_runs` runs.

    Earlier slices are written before later ones attend to them, so causality holds across slices.
    """
    while len(positions):
        runs = cut_runs(positions[:max_tokens])
        if runs.count > max_runs:
            runs = cut_runs(positions[: int(runs.starts[max_runs])])
        yield runs
        positions = positions[len(runs.positions) :]
