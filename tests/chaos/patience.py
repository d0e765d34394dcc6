"""A client that asks again when what it asked was killed, as clients do."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

import httpx

T = TypeVar("T")

_TRIES_SECONDS = 240.0


class Unanswered(Exception):
    """Nobody answered for minutes."""


class AskAgain(Exception):
    """The request broke off, or was told that something does not answer; `reason` is for the counts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class Patience:
    """`reasons`: why requests were repeated, and how often."""

    reasons: Counter[str] = field(default_factory=Counter)
    pause_seconds: float = 0.2
    _lock: Lock = field(default_factory=Lock)

    def until_answered(self, what: str, attempt: Callable[[], T]) -> T:
        """The first result of `attempt`. Raises Unanswered."""
        deadline = time.monotonic() + _TRIES_SECONDS
        while True:
            try:
                return attempt()
            except httpx.TransportError as error:
                reason = type(error).__name__
            except AskAgain as again:
                reason = again.reason
            with self._lock:
                self.reasons[reason] += 1
            if time.monotonic() > deadline:
                raise Unanswered(f"{what}: {reason} for {_TRIES_SECONDS:.0f} s")
            time.sleep(self.pause_seconds)


def accepted(response: httpx.Response, *codes: int) -> httpx.Response:
    """Raises AskAgain where a part did not answer, AssertionError for any other code than these."""
    if response.status_code in (502, 503):
        raise AskAgain(str(response.json()["code"]))
    assert response.status_code in codes, f"{response.request.method} {response.url}: {response.text[:500]}"
    return response
