"""The connector in the scheduler: how many tokens a request may skip, and what the worker must do for that."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.errors import BadInput
from generator.fusion_request import FusionRequest
from generator.identity import segment_identities
from generator.policy import Policy, PolicyName, parse_policy
from generator.promise import Promise, promised
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


@dataclass
class _Tracked:
    """A request of ours, from its first look-up until it finishes.

    `promise`: what the store had when it was asked. `placed`: the scheduler has placed the request, which is looked up
    anew if it is asked about again, as after a preemption. `external`: tokens to be filled in the coming step.
    """

    request: FusionRequest
    policy: Policy
    prompt_ids: tuple[int, ...]
    promise: Promise
    placed: bool = False
    block_ids: list[int] = field(default_factory=list)
    external: int | None = None


class SchedulerSide:
    """Holds no chunk KV: it only asks the store which keys exist.

    `readings_that_may_join`: how many requests that capture may be placed in the coming step; None: any number.
    """

    def __init__(self, store: ChunkStore, fingerprint: str, share: float, admission: Admission) -> None:
        self._store = store
        self._fingerprint = fingerprint
        self._share = share
        self.admission = admission
        self.fusion = False
        self.readings_that_may_join: int | None = None
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
        if tracked.request.capture is not None and self.readings_that_may_join == 0:
            return None
        promise = tracked.promise
        matched = max(0, min(promise.end, request.num_tokens - 1) - num_computed)
        waits = matched and tracked.request.capture is None
        if waits and self.admission.must_wait(request.request_id, promise.fresh_tokens):
            return None
        return matched

    def commit(self, request: "Request", num_external: int) -> None:
        """The scheduler placed the request: remember how many tokens are to be filled in the coming step."""
        tracked = self._look_up(request)
        if tracked is None:
            return
        if tracked.request.capture is not None and self.readings_that_may_join:
            self.readings_that_may_join -= 1
        self.admission.joined(request.request_id, tracked.promise.fresh_tokens if num_external else 0)
        tracked.external = num_external
        tracked.placed = True

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
        # Pre-reading gives way by itself: nobody waits for it as for a running answer.
        answers = (each for each in output.num_scheduled_tokens if not self._captures(each))
        for request_id in self.admission.begin_step(answers):
            tracked = self._tracked[request_id]
            ids = tracked.prompt_ids[: tracked.request.context_tokens]
            promise = tracked.promise
            meta.prefetches.append(PrefetchTask(request_id, tracked.request, ids, promise.end, promise.missed))
        return meta

    def ready(self, request_ids: Sequence[str]) -> None:
        """A rank has fetched the chunk KV of these requests."""
        self.admission.ready(request_ids)

    def forget(self, request_id: str) -> None:
        self._tracked.pop(request_id, None)
        self.admission.forget(request_id)

    def _captures(self, request_id: str) -> bool:
        tracked = self._tracked.get(request_id)
        return tracked is not None and tracked.request.capture is not None

    def _look_up(self, request: "Request") -> _Tracked | None:
        """What is known of a request of ours, asking the store where it has not been asked yet."""
        tracked = self._tracked.get(request.request_id)
        if tracked is None:
            ours = self._read(request)
            if ours is None:
                return None
            policy, prompt_ids = parse_policy(ours.policy), tuple(request.prompt_token_ids or ())
            tracked = _Tracked(ours, policy, prompt_ids, self._promise(ours, policy, prompt_ids))
            self._tracked[request.request_id] = tracked
        elif tracked.placed:
            tracked.promise = self._promise(tracked.request, tracked.policy, tracked.prompt_ids)
            tracked.placed = False
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

    def _promise(self, ours: FusionRequest, policy: Policy, prompt_ids: Sequence[int]) -> Promise:
        if not self.fusion:
            return Promise((StoreMiss.ABSENT,) * len(ours.segments))
        return promised(ours, policy, len(prompt_ids), self._missed(ours, policy, prompt_ids), self._share)

    def _missed(self, ours: FusionRequest, policy: Policy, prompt_ids: Sequence[int]) -> tuple[StoreMiss | None, ...]:
        """Per segment None where the store has chunk KV for it, else why not."""
        if policy.name is PolicyName.EXACT and ours.capture is None:
            return (StoreMiss.ABSENT,) * len(ours.segments)
        identities = segment_identities(ours, prompt_ids, self._fingerprint)
        try:
            present = self._store.contains(ours.tenant, [each.key for candidates in identities for each in candidates])
        except TierDown as error:
            log.warning("request %s is served exactly: %s", ours.request_id, error.message)
            return (StoreMiss.TIER_DOWN,) * len(ours.segments)
        return tuple(
            None if any(each.key in present for each in candidates) else StoreMiss.ABSENT for candidates in identities
        )

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
            missed = tracked.promise.missed
            meta.fusions.append(FusionTask(request_id, ours, ids, blocks, start, num_computed, asked, missed))
            tracked.external = None
        if ours.capture is None:
            return
        target = ours.segments[-1]
        first = max(num_computed, target.start)
        last = min(scheduled, target.end)
        if first < last:
            ids = tracked.prompt_ids[: ours.context_tokens]
            meta.captures.append(CaptureTask(request_id, ours, ids, blocks, first, last))
