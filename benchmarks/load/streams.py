"""Many streams open at once: what they hold, and whether each comes to an end."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.load.client import Heard, LoadClient
from benchmarks.load.figures import endings
from benchmarks.load.web import MeasuredWeb, StubEngine

_OPENED_TOGETHER = 16
_PATIENCE_SECONDS = 60.0


async def open_streams(
    client: LoadClient, web: MeasuredWeb, stub: StubEngine, questions: Sequence[str], number: int
) -> dict[str, Any]:
    """Open so many, wait until all have said their first word, then let them end.

    `open_at_once`: how many were open then; fewer than asked where some ended early.
    """
    before = web.held_bytes
    stub.hold()
    ended: list[Heard] = []

    async def one(place: int) -> None:
        ended.append(await client.ask(questions[place % len(questions)], time.perf_counter()))

    began = time.perf_counter()
    tasks: list[asyncio.Task[None]] = []
    for first in range(0, number, _OPENED_TOGETHER):
        tasks += [asyncio.create_task(one(place)) for place in range(first, min(first + _OPENED_TOGETHER, number))]
        await asyncio.to_thread(stub.wait_until_held, partial(_enough, tasks, ended), _PATIENCE_SECONDS)
    took = time.perf_counter() - began
    at_once, held = stub.held, web.held_bytes
    stub.release()
    await asyncio.gather(*tasks)
    return {
        "asked": number,
        "open_at_once": at_once,
        "seconds_to_open": round(took, 2),
        "statuses": {str(status): count for status, count in Counter(each.status for each in ended).items()},
        "ends": endings(ended),
        "before_bytes": before,
        "open_bytes": held,
        "after_bytes": web.held_bytes,
        "bytes_per_stream": round((held - before) / at_once) if at_once else None,
    }


def _enough(opened: Sequence[object], ended: Sequence[Heard], held: int) -> bool:
    """Whether every stream that was opened is held or has ended."""
    return held + len(ended) >= len(opened)
