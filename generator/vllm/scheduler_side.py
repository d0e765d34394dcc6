"""The connector in the scheduler: how many tokens a request may skip, and what the worker must do for that."""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.errors import BadInput
from generator.fusion_request import FusionRequest, Segment, SegmentKind
from generator.identity import segment_identities
from generator.policy import PolicyName, parse_policy
from generator.vllm.metadata import CaptureTask, FusionMetadata, FusionTask
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
    """A request of ours, from its first look-up until it finishes."""

    request: FusionRequest
    prompt_ids: tuple[int, ...]
    missed: tuple[StoreMiss | None, ...] = ()
    block_ids: list[int] = field(default_factory=list)
    external: int | None = None


class SchedulerSide:
    """Holds no chunk KV: it only asks the store which keys exist."""

    def __init__(self, store: ChunkStore, fingerprint: str) -> None:
        self._store = store
        self._fingerprint = fingerprint
        self.fusion = False
        self._tracked: dict[str, _Tracked] = {}

    def matched_tokens(self, request: "Request", num_computed: int) -> int:
        """Tokens beyond `num_computed` that will be filled. Called any number of times; commits nothing."""
        ours = self._read(request)
        if ours is None:
            return 0
        missed = self._missed(ours, request)
        end = ours.context_tokens if ours.nested and self.fusion else _last_end(ours.segments, missed)
        return max(0, min(end, request.num_tokens - 1) - num_computed)

    def commit(self, request: "Request", num_external: int) -> None:
        """The scheduler placed the request: remember how many tokens are to be filled in the coming step."""
        ours = self._read(request)
        if ours is None:
            return
        missed = self._missed(ours, request)
        prompt_ids = tuple(request.prompt_token_ids or ())
        self._tracked[request.request_id] = _Tracked(ours, prompt_ids, missed, external=num_external)

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
        return meta

    def forget(self, request_id: str) -> None:
        self._tracked.pop(request_id, None)

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

    def _missed(self, ours: FusionRequest, request: "Request") -> tuple[StoreMiss | None, ...]:
        """Per segment None where the store has chunk KV for it, else why not."""
        if not self.fusion or (parse_policy(ours.policy).name is PolicyName.EXACT and ours.capture is None):
            return (StoreMiss.ABSENT,) * len(ours.segments)
        identities = segment_identities(ours, _context_ids(ours, request), self._fingerprint)
        try:
            present = self._store.contains(ours.tenant, [each.key for candidates in identities for each in candidates])
        except TierDown as error:
            log.warning("request %s is served exactly: %s", request.request_id, error.message)
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
            meta.fusions.append(FusionTask(ours, ids, blocks, start, num_computed, asked, tracked.missed))
            tracked.external = None
        if ours.capture is None:
            return
        target = ours.segments[-1]
        first = max(num_computed, target.start)
        last = min(scheduled, target.end)
        if first < last:
            ids = tracked.prompt_ids[: ours.context_tokens]
            meta.captures.append(CaptureTask(request_id, ours, ids, blocks, first, last))


def _context_ids(ours: FusionRequest, request: "Request") -> tuple[int, ...]:
    return tuple((request.prompt_token_ids or [])[: ours.context_tokens])


def _last_end(segments: tuple[Segment, ...], missed: tuple[StoreMiss | None, ...]) -> int:
    found = (segment for segment, miss in zip(segments, missed, strict=True) if miss is None)
    return max((segment.end for segment in found if segment.kind is not SegmentKind.TEXT), default=0)
