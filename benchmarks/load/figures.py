"""What a load's answers come to, in numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.load.client import Heard
from benchmarks.slopes import slope

_PERCENTS = (50, 95, 99)
_DELIBERATE = 503
_SERVER_ERRORS = 500


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The smallest value that so many percent do not exceed; None where there is none."""
    return sorted(values)[max(math.ceil(len(values) * percent / 100), 1) - 1] if values else None


def milliseconds(seconds: Sequence[float]) -> dict[str, float | int | None]:
    """Percentiles, and of how many."""
    found: dict[str, float | int | None] = {"n": len(seconds)}
    for percent in _PERCENTS:
        value = percentile(seconds, percent)
        found[f"p{percent}"] = None if value is None else round(1000 * value, 2)
    return found


def answers(heard: Sequence[Heard], engine_s: Mapping[str, float]) -> dict[str, Any]:
    """Counts and times. `engine_s`: seconds that the engine took over a request, by its id.

    `overhead_ms` is all that is not the engine's; only of answers of which its part is known.
    """
    done = [each for each in heard if each.last == "done"]
    apart = [each.total_s - engine_s[each.request_id] for each in done if each.request_id in engine_s]
    return {
        "requests": len(heard),
        "statuses": {str(status): count for status, count in sorted(Counter(each.status for each in heard).items())},
        "ends": endings(heard),
        "problems": dict(Counter(each.code for each in heard if each.code)),
        "server_errors": sum(each.status >= _SERVER_ERRORS and each.status != _DELIBERATE for each in heard),
        "overhead_ms": milliseconds(apart),
        "ttft_ms": milliseconds([each.ttft_s for each in done if each.ttft_s is not None]),
        "total_ms": milliseconds([each.total_s for each in done]),
    }


def endings(heard: Sequence[Heard]) -> dict[str, int]:
    """How streams ended, by their last event; `broken`: without a `done` or an `error`."""
    streamed = [each for each in heard if each.status == 200]
    return dict(Counter(each.last if each.last in ("done", "error") else "broken" for each in streamed))


def memory(samples: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """`samples`: requests ended so far, and the bytes that web held then, in this order.

    The slope is of what came after the first quarter of the requests; None with too few samples.
    """
    settled = [each for each in samples if each[0] >= samples[-1][0] / 4]
    grown = slope([done for done, _ in settled], [held for _, held in settled])
    return {
        "before_bytes": samples[0][1],
        "after_bytes": samples[-1][1],
        "slope_bytes_per_1000_requests": None if grown is None else round(1000 * grown),
    }
