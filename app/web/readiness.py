"""Whether every part answers, told in bounded time whatever hangs."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from app.web.parts import PartCheck
from app.web.schemas.system import Part, Readiness

_PART_SECONDS = 5.0
_KEPT_SECONDS = 1.0
_STOPPING = Part(name="web", ok=False, message="It is being stopped.", hint="Ask another web process.")


class Probing:
    """Asks all parts at once, each in a thread of its own, and remembers what it found for a second.

    A part that hangs has one thread, and is waited for once. Belongs to one event loop.
    """

    def __init__(
        self,
        checks: Sequence[PartCheck],
        *,
        stopping: Callable[[], bool] = lambda: False,
        part_seconds: float = _PART_SECONDS,
        kept_seconds: float = _KEPT_SECONDS,
    ) -> None:
        self._checks = checks
        self._stopping = stopping
        self._part_seconds = part_seconds
        self._kept_seconds = kept_seconds
        self._threads = ThreadPoolExecutor(len(checks), thread_name_prefix="ready")
        self._running: dict[str, Future[Part]] = {}
        self._found: asyncio.Task[Readiness] | None = None
        self._stale_at = 0.0

    async def readiness(self) -> Readiness:
        """Not ready while the process is being stopped; who asks while others do gets the same answer."""
        if self._stopping():
            return Readiness(ready=False, parts=[_STOPPING])
        found = self._found
        if found is None or (found.done() and time.monotonic() >= self._stale_at):
            found = self._found = asyncio.create_task(self._ask())
        return await asyncio.shield(found)

    def close(self) -> None:
        """Waits for nothing."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _ask(self) -> Readiness:
        parts = await asyncio.gather(*map(self._part, self._checks))
        self._stale_at = time.monotonic() + self._kept_seconds
        return Readiness(ready=all(part.ok or not part.required for part in parts), parts=list(parts))

    async def _part(self, check: PartCheck) -> Part:
        before = self._running.get(check.name)
        if before is not None and not before.done():
            return check.silent(self._part_seconds)
        self._running[check.name] = self._threads.submit(check.judge)
        answered = asyncio.wrap_future(self._running[check.name])
        await asyncio.wait((answered,), timeout=self._part_seconds)
        return answered.result() if answered.done() else check.silent(self._part_seconds)
