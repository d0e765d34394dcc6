"""Waiting until all is done, and telling what is stuck: to be done, everything up, and not moving for a minute."""

import time
from collections.abc import Callable

import httpx
from findings import Findings
from running_stack import RunningStack
from shelf import Shelf
from state import StackState

from app.core.catalog import DocumentNotFound
from app.core.errors import PrereadError

STUCK_SECONDS = 60.0
UP_SECONDS = 180.0
_PAUSE_SECONDS = 0.25


class Settling:
    def __init__(
        self, stack: RunningStack, http: httpx.Client, state: StackState, shelf: Shelf, findings: Findings
    ) -> None:
        self._stack = stack
        self._http = http
        self._state = state
        self._shelf = shelf
        self._findings = findings

    def settle(self) -> float | None:
        """Seconds from everything being up until nothing was left to do; None: something is stuck.

        Raises AssertionError where the stack does not come up.
        """
        self.wait_until_up()
        begun = time.monotonic()
        done = self._until_done("nothing is stuck", self._state.unfinished)
        done = self._until_done("deletions are proven", self._unproven) and done
        return time.monotonic() - begun if done else None

    def wait_until_up(self) -> None:
        deadline = time.monotonic() + UP_SECONDS
        while not self._ready():
            assert time.monotonic() < deadline, f"not ready in {UP_SECONDS:.0f} s"
            time.sleep(_PAUSE_SECONDS)

    def _ready(self) -> bool:
        assert self._stack.processes(), "`preread up` has ended"
        try:
            return self._http.get("/readyz").is_success
        except httpx.HTTPError:
            return False

    def _until_done(self, name: str, to_do: Callable[[], dict[str, str]]) -> bool:
        """A minute without anything moving is a finding for whatever is left then."""
        seen, moved = None, time.monotonic()
        while left := to_do():
            now = (self._state.progress(), tuple(sorted(left.items())))
            if now != seen:
                seen, moved = now, time.monotonic()
            if time.monotonic() - moved > STUCK_SECONDS:
                break
            time.sleep(_PAUSE_SECONDS)
        return self._findings.check(name, not left, "; ".join(f"{each}: {what}" for each, what in left.items()))

    def _unproven(self) -> dict[str, str]:
        left = {}
        for gone in self._shelf.gone():
            try:
                proof = self._state.proof(gone.document_id)
            except DocumentNotFound:
                left[gone.document_id] = "there is no evidence of its deletion"
            except (PrereadError, httpx.HTTPError) as error:
                left[gone.document_id] = repr(error)
            else:
                if not proof.proven:
                    left[gone.document_id] = ", ".join(
                        f"{each.place}: {each.left} {each.problem}" for each in proof.places
                    )
        return left
