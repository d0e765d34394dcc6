"""What vLLM is promised for a request, told from what the store has. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.fusion_request import FusionRequest, SegmentKind
from generator.policy import Policy, PolicyName
from kvstore.reasons import StoreMiss

_LONGEST_JOINED_REST = 256
"""Tokens behind the last hit that go through our forward; more are left to vLLM, which lets answers go on meanwhile."""


@dataclass(frozen=True)
class Promise:
    """missed: per segment None where the store has chunk KV for it, else why not.

    end: the position up to which the prompt will be filled. fresh_tokens: about how many of its tokens will be computed
    for that.
    """

    missed: tuple[StoreMiss | None, ...]
    end: int = 0
    fresh_tokens: int = 0


def promised(
    request: FusionRequest, policy: Policy, prompt_tokens: int, missed: Sequence[StoreMiss | None], share: float
) -> Promise:
    """The prompt is filled up to the end of the last chunk that there is KV for.

    Where tokens before it have to be computed anyway, a short rest of the prompt, the question above all, goes through
    the same forward: two forwards cost nearly twice as much as one, and vLLM's own is left with the last token.
    `share`: of the tokens that a policy makes fresh which leaves that to the budget.
    """
    known = list(zip(request.segments, missed, strict=True))
    # A number before a missing chunk is not worth a load; the passage that a chunk is pre-read behind is.
    worth = set(SegmentKind) if request.capture is not None else {SegmentKind.PREAMBLE, SegmentKind.CHUNK}
    found = [segment for segment, miss in known if miss is None and segment.kind in worth]
    end = request.context_tokens if request.nested else max((segment.end for segment in found), default=0)
    lost = any(miss is not None and segment.end <= end for segment, miss in known)
    chunks = sum(segment.kind is SegmentKind.CHUNK for segment in found)
    computes = request.nested or lost or (chunks > 1 and policy.name is not PolicyName.NONE)
    joins = end > 0 and computes and request.capture is None and prompt_tokens - end <= _LONGEST_JOINED_REST
    end = prompt_tokens if joins else end
    return Promise(tuple(missed), end, _fresh_tokens(request, policy, end, missed, share))


def _fresh_tokens(
    request: FusionRequest, policy: Policy, end: int, missed: Sequence[StoreMiss | None], share: float
) -> int:
    lost = sum(
        segment.n_tokens
        for segment, miss in zip(request.segments, missed, strict=True)
        if segment.end <= end and (request.nested or miss is not None)
    )
    if policy.scored:
        return lost + int((share if policy.amount is None else policy.amount) * (end - lost))
    chunks = sum(segment.kind is SegmentKind.CHUNK for segment in request.segments)
    return lost + int(policy.amount or 0) * chunks
