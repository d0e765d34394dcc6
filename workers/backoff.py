"""How long to wait before the next try."""

import random
from collections.abc import Callable

LONGEST_SECONDS = 600.0
_MOST_DOUBLINGS = 30


def pause_after(attempts: int, first_seconds: float, chance: Callable[[], float] = random.random) -> float:
    """Seconds after so many tries that failed: twice as many each time, between half of that and all of it.

    chance: in [0, 1), so that documents that failed together do not all come back together.
    """
    whole = min(first_seconds * 2.0 ** min(attempts - 1, _MOST_DOUBLINGS), LONGEST_SECONDS)
    return whole * (1 + chance()) / 2
