"""The connector in the scheduler: how many tokens a request may skip, and what the worker must do for that."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.errors import BadInput
from generator.fusion_request import FusionRequest, SegmentKind
from generator.identity import segment_identities
from generator.policy import PolicyName, parse_policy
from generator.vllm.admission import Admission
from generator.vllm.metadata import CaptureTask, FusionMetadata, FusionTask, PrefetchTask
from kvstore.errors import TierDown
from kvstore.names import checked_tenant
from kvstore.reasons import StoreMiss
from kvstore.store import ChunkStore

if TYPE_CHECKING:
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.request import Request

log = logging.getLogger(__name__)

_LONGEST_JOINED_REST = 256
"""Tokens behind the last hit that go through our forward; more are left to vLLM, which lets answers go on meanwhile."""


@dataclass
class _Tracked:
    """A request of ours, from its first look-up until it finishes.

    `missed`: per segment None where the store has chunk KV for it, else why not; None before it was looked up and once
    the scheduler has placed the request: a preempted one is looked up again. `external`: tokens to be filled in the
    coming step.
    """

    request: FusionRequest
    prompt_ids: tuple[int, ...]
    missed: tuple[StoreMiss | None, ...] | None = None
    placed: tuple[StoreMiss | None, ...] = ()
    block_ids: list[int] = field(default_factory=list)
    external: int | None = None


class SchedulerSide:
    """Holds no chunk KV: it only asks the store which keys exist."""

    def __init__(self, store: ChunkStore, fingerprint: str, share: float, admission: Admission) -> None:
        self._store = store
        self._fingerprint = fingerprint
        self._share = share
        self.admission = admission
        self.fusion = False
        self._tracked: dict[str, _Tracked] = {}

    @property
    def tracked_requests(self) -> int:
        """Requests of ours that have not finished."""
        return len(self._tracked)

    def matched_tokens(self, request: "Request", num_computed: int) -> int | None:
        """Tokens beyond `num_computed` that will be filled; None: ask again at the next step. Commits nothing."""
        tracked = self._look_up(request)
        if tracked is None:
            return 0
        matched = max(0, min(self._end(tracked), request.num_tokens - 1) - num_computed)
        waits = matched and tracked.request.capture is None
        if waits and self.admission.must_wait(request.request_id, self._fresh_tokens(tracked)):
            return None
        return matched

    def commit(self, request: "Request", num_external: int) -> None:
        """The scheduler placed the request: remember how many tokens are to be filled in the coming step."""
        tracked = self._look_up(request)
        if tracked is None:
            return
        self.admission.joined(request.request_id, self._fresh_tokens(tracked) if num_external else 0)
        tracked.external = num_external
        tracked.placed, tracked.missed = _known(tracked), None

    def metadata(self, output: "SchedulerOutput") -> FusionMetadata:
        meta = FusionMetadata()
        for new in output.scheduled_new_reqs:
            if tracked := self._tracked.get(new.req_id):
                tracked.block_ids = list(new.block_ids[0])
                self._add(meta, new.req_id, tracked, new.num_computed_tokens, output)
        cached = output.scheduled_cached_reqs
        for index, request_id in enumerate(cached.req_ids):
            if tracked := self._tracked.get(request_id):
                if request_id in cached.resumed_req_ids:
                    tracked.block_ids = []
                blocks = cached.new_block_ids[index]
                tracked.block_ids += blocks[0] if blocks else []
                self._add(meta, request_id, tracked, cached.num_computed_tokens[index], output)
        for request_id in self.admission.begin_step(output.num_scheduled_tokens):
            tracked = self._tracked[request_id]
            ids = tracked.prompt_ids[: tracked.request.context_tokens]
            meta.prefetches.append(PrefetchTask(request_id, tracked.request, ids, self._end(tracked), _known(tracked)))
        return meta

    def ready(self, request_ids: Sequence[str]) -> None:
        """A rank has fetched the chunk KV of these requests."""
        self.admission.ready(request_ids)

    def forget(self, request_id: str) -> None:
        self._tracked.pop(request_id, None)
        self.admission.forget(request_id)

    def _look_up(self, request: "Request") -> _Tracked | None:
        """What is known of a request of ours, asking the store where it has not been asked yet."""
        tracked = self._tracked.get(request.request_id)
        if tracked is None:
            ours = self._read(request)
            if ours is None:
                return None
            tracked = _Tracked(ours, tuple(request.prompt_token_ids or ()))
            self._tracked[request.request_id] = tracked
        if tracked.missed is None:
            tracked.missed = self._missed(tracked)
        return tracked

    def _read(self, request: "Request") -> FusionRequest | None:
        try:
            ours = FusionRequest.from_params(request.kv_transfer_params)
            if ours is not None:
                parse_policy(ours.policy)
                checked_tenant(ours.tenant)
        except BadInput as error:
            log.error("request %s is served exactly: %s", request.request_id, error.message)
            return None
        if ours is None or ours.context_tokens > request.num_prompt_tokens:
            return None
        return ours

    def _missed(self, tracked: _Tracked) -> tuple[StoreMiss | None, ...]:
        ours = tracked.request
        if not self.fusion or (parse_policy(ours.policy).name is PolicyName.EXACT and ours.capture is None):
            return (StoreMiss.ABSENT,) * len(ours.segments)
        identities = segment_identities(ours, tracked.prompt_ids, self._fingerprint)
        try:
            present = self._store.contains(ours.tenant, [each.key for candidates in identities for each in candidates])
        except TierDown as error:
            log.warning("request %s is served exactly: %s", ours.request_id, error.message)
            return (StoreMiss.TIER_DOWN,) * len(ours.segments)
        return tuple(
            None if any(each.key in present for each in candidates) else StoreMiss.ABSENT for candidates in identities
        )

    def _end(self, tracked: _Tracked) -> int:
        """The position up to which the prompt will be filled: the end of the last chunk that there is KV for.

        Where tokens before it have to be computed anyway, a short rest of the prompt, the question above all, goes
        through the same forward: two forwards cost nearly twice as much as one, and vLLM's own is left with the last
        token.
        """
        ours = tracked.request
        if not self.fusion:
            return 0
        known = list(zip(ours.segments, _known(tracked), strict=True))
        # A number before a missing chunk is not worth a load; the passage that a chunk is pre-read behind is.
        worth = set(SegmentKind) if ours.capture is not None else {SegmentKind.PREAMBLE, SegmentKind.CHUNK}
        found = [segment for segment, miss in known if miss is None and segment.kind in worth]
        end = ours.context_tokens if ours.nested else max((segment.end for segment in found), default=0)
        lost = any(miss is not None and segment.end <= end for segment, miss in known)
        chunks = sum(segment.kind is SegmentKind.CHUNK for segment in found)
        policy = parse_policy(ours.policy)
        computes = ours.nested or lost or (chunks > 1 and policy.name is not PolicyName.NONE)
        rest = len(tracked.prompt_ids) - end
        joins = end > 0 and computes and ours.capture is None and rest <= _LONGEST_JOINED_REST
        return len(tracked.prompt_ids) if joins else end

    def _fresh_tokens(self, tracked: _Tracked) -> int:
        """About how many tokens the request will have made fresh."""
        ours, end = tracked.request, self._end(tracked)
        policy = parse_policy(ours.policy)
        lost = sum(
            segment.n_tokens
            for segment, miss in zip(ours.segments, _known(tracked), strict=True)
            if segment.end <= end and (ours.nested or miss is not None)
        )
        if policy.scored:
            return lost + int((self._share if policy.amount is None else policy.amount) * (end - lost))
        chunks = sum(segment.kind is SegmentKind.CHUNK for segment in ours.segments)
        return lost + int(policy.amount or 0) * chunks

    def _add(
        self, meta: FusionMetadata, request_id: str, tracked: _Tracked, num_computed: int, output: "SchedulerOutput"
    ) -> None:
        blocks = tuple(tracked.block_ids)
        ours = tracked.request
        scheduled = num_computed + output.num_scheduled_tokens[request_id]
        if tracked.external is not None:
            start = num_computed - tracked.external
            # A resumed request has tokens of its answer behind the prompt; they ask nothing.
            asked = min(scheduled, len(tracked.prompt_ids))
            ids = tracked.prompt_ids[: max(asked, ours.context_tokens)]
            meta.fusions.append(FusionTask(request_id, ours, ids, blocks, start, num_computed, asked, tracked.placed))
            tracked.external = None
        if ours.capture is None:
            return
        target = ours.segments[-1]
        first = max(num_computed, target.start)
        last = min(scheduled, target.end)
        if first < last:
            ids = tracked.prompt_ids[: ours.context_tokens]
            meta.captures.append(CaptureTask(request_id, ours, ids, blocks, first, last))


def _known(tracked: _Tracked) -> tuple[StoreMiss | None, ...]:
    if tracked.missed is None:
        raise RuntimeError(f"request {tracked.request.request_id} has not been looked up")
    return tracked.missed
