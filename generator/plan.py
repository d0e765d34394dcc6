"""Planning: which positions of a fused context are computed afresh. Pure: hits and scores in, positions out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generator.fusion_request import Segment, SegmentKind
from generator.policy import Policy, PolicyName
from kvstore.key import Reading

_JOINED_GAP = 4
"""Fewer, longer runs attend faster. Filling gaps this small leaves half as many and costs no quality where the rest of
a chunk follows (docs/fusion-study.md)."""

_SAMPLED_EVERY = 4
_GOLDEN = (math.sqrt(5) - 1) / 2
"""The first multiples of it, less their whole parts, lie evenly in [0, 1), however many are taken (Weyl)."""


@dataclass(frozen=True)
class LoadedSegment:
    """A segment and the reading that was loaded for it; None when nothing was."""

    segment: Segment
    reading: Reading | None


def fresh_positions(
    segments: Sequence[LoadedSegment], start: int, end: int, policy: Policy, scores: Tensor | None = None
) -> Tensor:
    """Positions in [start, end) to compute afresh, ascending, int64.

    Everything that was not loaded is fresh, and so are the short texts between chunks, which `none` alone reuses. Of
    what was loaded, the preamble and an opening chunk right behind the preamble never are; elsewhere the policy
    chooses. `exact` makes everything fresh. A scored policy that has anything to choose from needs its amount and
    `scores` (end,), higher first.
    """
    fresh = torch.zeros(max(end, 0), dtype=torch.bool)
    if policy.name is PolicyName.EXACT:
        fresh[start:end] = True
        return fresh.nonzero()[:, 0]
    open_to_choice = torch.zeros_like(fresh)
    for index, loaded in enumerate(segments):
        segment = loaded.segment
        if loaded.reading is None or (segment.kind is SegmentKind.TEXT and policy.name is not PolicyName.NONE):
            fresh[segment.start : segment.end] = True
        elif not _sits_where_it_was_read(segments, index):
            open_to_choice[segment.start : segment.end] = True
            if policy.name is PolicyName.HEAD and policy.amount is not None:
                fresh[segment.start : min(segment.end, segment.start + int(policy.amount))] = True
    fresh[:start] = False
    open_to_choice[:start] = False
    if policy.scored and bool(open_to_choice.any()):
        if scores is None or policy.amount is None:
            raise ValueError(f"{policy} needs scores and an amount")
        budget = math.ceil(round(policy.amount * int(open_to_choice.sum()), 6))
        order = _ranked(open_to_choice, scores)
        fresh |= _best(fresh, open_to_choice, sampling(order, _SAMPLED_EVERY) if policy.follows else order, budget)
    return fresh.nonzero()[:, 0]


def needs_scores(segments: Sequence[LoadedSegment], start: int) -> bool:
    """Whether a policy has anything to choose from at or after `start`."""
    return any(
        loaded.reading is not None
        and loaded.segment.kind is SegmentKind.CHUNK
        and loaded.segment.end > start
        and not _sits_where_it_was_read(segments, index)
        for index, loaded in enumerate(segments)
    )


def _ranked(open_to_choice: Tensor, scores: Tensor) -> Tensor:
    """The positions open to choice, the highest scores first. Of equals the earlier come first, so that every rank
    chooses the same."""
    candidates = open_to_choice.nonzero()[:, 0]
    ranked = torch.nan_to_num(scores[candidates].to(torch.float32), nan=-torch.inf)
    return candidates[torch.sort(ranked, descending=True, stable=True).indices]


def sampling(order: Tensor, every: int) -> Tensor:
    """`order` (positions,) with one place of `every` given to an even sample of all: what a chunk's rest follows must
    not be told by the tokens that the question looks at alone."""
    rank = torch.arange(len(order))
    by_place = order.argsort()
    sampled = torch.empty_like(rank)
    sampled[by_place[torch.sort(rank.to(torch.float64) * _GOLDEN % 1, stable=True).indices]] = rank
    return order[torch.minimum(rank + rank // (every - 1), every * (sampled + 1) - 1).argsort()]


def _best(fresh: Tensor, open_to_choice: Tensor, order: Tensor, budget: int) -> Tensor:
    """The `budget` positions to choose, as a mask: the first of `order`, small gaps between them filled.

    As many are taken as fit with their gaps, so that a larger budget only adds.
    """
    fits, too_many = 0, min(budget, len(order)) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        taken = _filled(fresh, open_to_choice, order[:middle])
        fits, too_many = (middle, too_many) if int(taken.sum()) <= budget else (fits, middle)
    return _filled(fresh, open_to_choice, order[:fits])


def _filled(fresh: Tensor, open_to_choice: Tensor, chosen: Tensor) -> Tensor:
    """`chosen` (positions) as a mask, with the gaps of at most `_JOINED_GAP` open positions beside them.

    A gap lies between two fresh positions, at least one of them chosen: where nothing is chosen, nothing is filled.
    """
    taken = torch.zeros_like(fresh)
    taken[chosen] = True
    members = (fresh | taken).nonzero()[:, 0]
    if len(members) < 2:
        return taken
    before, behind = members[:-1], members[1:]
    open_until = torch.cat([before.new_zeros(1), open_to_choice.cumsum(0)])
    size = behind - before - 1
    small = (size > 0) & (size <= _JOINED_GAP) & (open_until[behind] - open_until[before + 1] == size)
    joined = small & (taken[before] | taken[behind])
    for step in range(1, _JOINED_GAP + 1):
        reached = joined & (size >= step)
        taken[before[reached] + step] = True
    return taken


def _sits_where_it_was_read(segments: Sequence[LoadedSegment], index: int) -> bool:
    """Whether loaded KV is what full prefill would compute: the preamble's, and, be the preamble loaded or fresh, that
    of an opening chunk right behind it."""
    opens = segments[0].segment.kind is SegmentKind.PREAMBLE and index <= 1
    return opens and segments[index].reading is Reading.OPENING
