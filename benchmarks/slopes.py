"""How time to first token grows with the context."""

from collections.abc import Mapping, Sequence

import numpy as np


def slope(tokens: Sequence[float], seconds: Sequence[float]) -> float | None:
    """Seconds per context token, by least squares over at least two lengths; None with fewer."""
    if len(set(tokens)) < 2:
        return None
    return float(np.polyfit(tokens, seconds, 1)[0])


def relative_slopes(slopes: Mapping[str, float | None], base: str) -> dict[str, float | None]:
    """Each slope ÷ that of `base`; None where either is unknown or the base does not grow."""
    divisor = slopes[base]
    return {
        name: None if each is None or divisor is None or divisor <= 0 else each / divisor
        for name, each in slopes.items()
    }
