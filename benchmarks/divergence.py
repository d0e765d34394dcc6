"""How far a fused run's next-token distributions are from the exact run's."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LogProbs = NDArray[np.float32]


def kl(exact: LogProbs, other: LogProbs) -> NDArray[np.float64]:
    """KL divergence of `other` from `exact` at every step, in nats.

    Args:
        exact, other: (steps, vocabulary) float32 log-probabilities; both runs were given the same tokens.
    Returns: (steps,) float64, at least 0.
    """
    left, right = exact.astype(np.float64), other.astype(np.float64)
    terms = np.exp(left) * np.where(np.isneginf(left), 0.0, left - right)
    return np.asarray(np.maximum(terms.sum(axis=-1), 0.0), dtype=np.float64)


def agreement(exact: Sequence[int], other: Sequence[int]) -> float:
    """Share of places where two greedy runs have the same token; places that only one has count as different."""
    longer = max(len(exact), len(other))
    return sum(a == b for a, b in zip(exact, other, strict=False)) / longer if longer else 1.0
