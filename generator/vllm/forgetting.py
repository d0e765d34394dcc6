"""Has vLLM's prefix cache forget the text of what was deleted: exact answers leave their prompts in it."""

import asyncio
import logging
from typing import Protocol

log = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 5.0


class PrefixCached(Protocol):
    async def reset_prefix_cache(self) -> bool:
        """Empty the prefix cache; False while a request uses any of its blocks."""


class Forgetting:
    """vLLM can empty the whole cache, and only at a moment when no request runs: so it is asked until there is one.

    Until then what is cached is found by requests of the same tenant alone that begin with the very same tokens.
    """

    def __init__(self) -> None:
        self._wanted = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, engine: PrefixCached) -> None:
        """Returns at once. What was cached before this call will be forgotten."""
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._forget(engine))

    async def _forget(self, engine: PrefixCached) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while self._wanted:
            self._wanted = False
            try:
                done = await engine.reset_prefix_cache()
            except Exception:
                log.exception("the prefix cache was not emptied")
                return
            if not done:
                self._wanted = True
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


__all__ = ["Forgetting", "PrefixCached"]
