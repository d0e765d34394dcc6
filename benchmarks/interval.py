"""A figure over questions with its interval, by resampling the questions."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

_RESAMPLES = 2000
_SEED = 7
_EDGES = (2.5, 97.5)


@dataclass(frozen=True)
class Interval:
    """`low` … `high` holds 95 % of the bootstrap's values. All None where nothing could be measured."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def to_json(self) -> dict[str, float | int | None]:
        return asdict(self)


def mean_of(values: Sequence[float]) -> Interval:
    """Mean of one value a question."""
    return interval_of(values, lambda rows: rows[..., 0].mean(axis=-1))


def median_of(values: Sequence[float]) -> Interval:
    """Median of one value a question."""
    return interval_of(values, lambda rows: np.asarray(np.median(rows[..., 0], axis=-1)))


def percentile_of(values: Sequence[float], percent: float) -> Interval:
    """Percentile of one value a question."""
    return interval_of(values, lambda rows: np.asarray(np.percentile(rows[..., 0], percent, axis=-1)))


def interval_of(
    rows: Sequence[float] | Sequence[Sequence[float]], statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Interval:
    """`statistic` over questions, bootstrapped by question with a fixed seed.

    Args:
        rows: one value, or several that belong together, for each question.
        statistic: (…, questions, values) → (…); may give non-finite numbers where it is undefined.
    Returns: Interval; undefined when the statistic is for the questions as they are.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 13.3 (percentile interval).
    """
    if not rows:
        return Interval(None, None, None, 0)
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(statistic(table))
        draws = np.random.default_rng(_SEED).integers(0, len(table), (_RESAMPLES, len(table)))
        resampled = statistic(table[draws])
    resampled = resampled[np.isfinite(resampled)]
    if not np.isfinite(found) or not len(resampled):
        return Interval(None, None, None, len(table))
    low, high = np.percentile(resampled, _EDGES)
    return Interval(found, float(low), float(high), len(table))
