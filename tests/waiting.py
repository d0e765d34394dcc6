"""Waiting on a condition, never for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

from redis import Redis
from redis.exceptions import RedisError

T = TypeVar("T")

DEADLINE_SECONDS = 180.0
_PAUSE_SECONDS = 0.05


def wait_until(condition: Callable[[], T], what: str, seconds: float = DEADLINE_SECONDS) -> T:
    """The first true result of `condition`; an AssertionError that says `what` did not happen in time."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain: {what}"
        time.sleep(_PAUSE_SECONDS)
    return result


def redis_answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False
