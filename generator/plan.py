"""Planning: which positions of a fused context are computed afresh. Pure: segments and hits in, positions out."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generator.fusion_request import Segment, SegmentKind
from generator.policy import Policy, PolicyName
from kvstore.key import Reading


@dataclass(frozen=True)
class LoadedSegment:
    """A segment and the reading that was loaded for it; None when nothing was."""

    segment: Segment
    reading: Reading | None

    @property
    def exact(self) -> bool:
        """Whether the loaded KV is what full prefill would compute: the preamble, and an opening first chunk."""
        return self.reading is Reading.OPENING and self.segment.kind is SegmentKind.PREAMBLE


def fresh_positions(segments: Sequence[LoadedSegment], start: int, end: int, policy: Policy) -> Tensor:
    """Positions in [start, end) to compute afresh, ascending, int64.

    Everything that was not loaded is fresh, and so are the short texts between chunks, which `none` alone reuses. Of
    what was loaded, the preamble and an opening chunk right behind a loaded preamble never are; elsewhere the policy
    chooses. `exact` makes everything fresh.
    """
    fresh = torch.zeros(max(end, 0), dtype=torch.bool)
    if policy.name is PolicyName.EXACT:
        fresh[start:end] = True
        return fresh.nonzero()[:, 0]
    for index, loaded in enumerate(segments):
        segment = loaded.segment
        if loaded.reading is None or (segment.kind is SegmentKind.TEXT and policy.name is not PolicyName.NONE):
            fresh[segment.start : segment.end] = True
        elif policy.name is PolicyName.HEAD and not _sits_where_it_was_read(segments, index):
            fresh[segment.start : min(segment.end, segment.start + policy.amount)] = True
    fresh[:start] = False
    return fresh.nonzero()[:, 0]


def _sits_where_it_was_read(segments: Sequence[LoadedSegment], index: int) -> bool:
    if index == 0:
        return segments[0].exact
    return index == 1 and segments[0].exact and segments[1].reading is Reading.OPENING
