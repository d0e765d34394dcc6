"""How far a variant's next-token distributions are from the exact run's."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from torch import Tensor

_RESAMPLES = 2000


@dataclass(frozen=True)
class Closeness:
    """One question's figures.

    kl_first: KL(exact || variant) at the answer's first token, in nats.
    kl_mean: its mean over the exact run's greedy tokens, forced.
    agreement: share of those tokens that are the variant's first choice too, given the same tokens before.
    identical: 1 when all are, which is when both would answer the same greedily; else 0.
    """

    kl_first: float
    kl_mean: float
    agreement: float
    identical: float


def closeness(exact: Tensor, variant: Tensor) -> Closeness:
    """Both (steps, vocabulary) log-probabilities along the exact run's greedy tokens."""
    divergence = kl(exact, variant)
    same = exact.argmax(-1) == variant.argmax(-1)
    return Closeness(
        float(divergence[0]), float(divergence.mean()), float(same.float().mean()), float(bool(same.all()))
    )


def kl(exact: Tensor, variant: Tensor) -> Tensor:
    """KL(exact || variant) of each row of log-probabilities (steps, vocabulary); (steps,) float64."""
    exact, variant = exact.double().log_softmax(-1), variant.double().log_softmax(-1)
    return (exact.exp() * (exact - variant)).sum(-1).clamp_min(0)


def bootstrap(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """95 % interval of the mean, by resampling the questions."""
    order = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    means = sorted(fmean(order.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]


def paired_bootstrap(ours: Sequence[float], theirs: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """95 % interval of mean(ours) / mean(theirs), both resampled by the same questions."""
    order = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    ratios = []
    for _ in range(_RESAMPLES):
        drawn = order.choices(range(len(ours)), k=len(ours))
        below = fmean(theirs[at] for at in drawn)
        ratios.append(fmean(ours[at] for at in drawn) / below if below else float("inf"))
    ratios.sort()
    return ratios[int(0.025 * _RESAMPLES)], ratios[int(0.975 * _RESAMPLES) - 1]
