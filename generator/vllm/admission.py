"""Admission: whether a request whose KV is to be filled joins the coming step, or answers that run go on first."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

_MOST_PREFETCHED = 4
_LONGEST_WAIT_SECONDS = 10.0


@dataclass
class _Waiting:
    since: float
    ranks_ready: int = 0


@dataclass
class Admission:
    """A request waits while others have tokens to decode and its KV is being fetched, or while the step has fresh
    tokens enough. Nobody waits for nothing: with no answer running, or after ten seconds, it joins.

    ranks: worker processes that each fetch.
    fresh_tokens: what the requests that join one step may compute afresh; the first one may always join.
    """

    ranks: int
    fresh_tokens: int
    clock: Callable[[], float] = time.monotonic
    _waiting: dict[str, _Waiting] = field(default_factory=dict, init=False)
    _prefetched: set[str] = field(default_factory=set, init=False)
    _to_prefetch: list[str] = field(default_factory=list, init=False)
    _running: frozenset[str] = field(default=frozenset(), init=False)
    _joined_tokens: int = field(default=0, init=False)

    @property
    def waiting_requests(self) -> int:
        """Requests that were told to ask again and have neither joined nor ended."""
        return len(self._waiting)

    def must_wait(self, request_id: str, fresh_tokens: int) -> bool:
        """Whether to ask again at the next step. `fresh_tokens`: an estimate of what the request will compute."""
        if not self._running - {request_id}:
            return False
        waiting = self._waiting.setdefault(request_id, _Waiting(self.clock()))
        if self.clock() - waiting.since > _LONGEST_WAIT_SECONDS:
            return False
        if request_id not in self._prefetched and len(self._prefetched) < _MOST_PREFETCHED:
            self._prefetched.add(request_id)
            self._to_prefetch.append(request_id)
        crowded = self._joined_tokens > 0 and self._joined_tokens + fresh_tokens > self.fresh_tokens
        return waiting.ranks_ready < self.ranks or crowded

    def ready(self, request_ids: Iterable[str]) -> None:
        """One rank has fetched these requests' KV."""
        for request_id in request_ids:
            if waiting := self._waiting.get(request_id):
                waiting.ranks_ready += 1

    def joined(self, request_id: str, fresh_tokens: int) -> None:
        """The request is part of the coming step."""
        self.forget(request_id)
        self._joined_tokens += fresh_tokens

    def begin_step(self, running: Iterable[str]) -> list[str]:
        """The scheduler has decided who runs; returns the requests to fetch for meanwhile."""
        self._running = frozenset(running)
        self._joined_tokens = 0
        wanted, self._to_prefetch = self._to_prefetch, []
        return [request_id for request_id in wanted if request_id in self._waiting]

    def forget(self, request_id: str) -> None:
        self._waiting.pop(request_id, None)
        self._prefetched.discard(request_id)
        self._running -= {request_id}
