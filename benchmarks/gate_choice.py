"""Which of the measured policies a model is to run at. Pure: measured rows in, a choice out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from generator.conditioning import Conditioning
from generator.policy import SCORED, parse_policy

REFERENCE = "alone:hkvd@.15"
"""What CacheBlend's users have now; the bound is a share of its error."""


@dataclass(frozen=True)
class Bound:
    """When an answer counts as kept.

    The mean KL divergence above the noise floor's is at most `kl_share` of the reference's (but an excess no larger
    than the noise floor itself always passes, since less cannot be told from none), and the share of answers that are
    identical to the exact run's is at most `identical_points` below that of two exact runs.
    """

    kl_share: float = 0.25
    identical_points: float = 0.10


@dataclass(frozen=True)
class Row:
    """Means over the questions for one policy behind one passage."""

    policy: str
    conditioning: Conditioning
    kl_mean: float
    identical: float
    effective_recompute: float


@dataclass(frozen=True)
class Choice:
    """`within_bound` is False when nothing passed, and the row is the one of least divergence."""

    row: Row
    floor: float
    within_bound: bool


def passes(row: Row, floor: Row, reference: Row, bound: Bound) -> bool:
    allowed = max(bound.kl_share * (reference.kl_mean - floor.kl_mean), floor.kl_mean)
    return row.kl_mean - floor.kl_mean <= allowed and row.identical >= floor.identical - bound.identical_points


def choose(rows: Sequence[Row], floor: Row, reference: Row, bound: Bound) -> Choice:
    """The row of least effective recompute among the smallest sufficient amounts.

    Of each policy behind each passage, the smallest amount counts from which on every larger measured one passes too:
    one that passes by luck below one that fails does not. Without any, the row of least divergence. `rows` must not be
    empty; `exact` is no candidate.
    """
    families: dict[tuple[str, bool, Conditioning], list[Row]] = {}
    for row in rows:
        policy = parse_policy(row.policy)
        families.setdefault((policy.name, policy.alone, row.conditioning), []).append(row)
    sufficient = [
        found for family in families.values() if (found := _smallest(family, floor, reference, bound)) is not None
    ]
    if sufficient:
        best = min(sufficient, key=lambda row: (row.effective_recompute, row.kl_mean))
        return Choice(best, _floor(best), within_bound=True)
    nearest = min(rows, key=lambda row: row.kl_mean)
    return Choice(nearest, _floor(nearest), within_bound=False)


def _smallest(family: Sequence[Row], floor: Row, reference: Row, bound: Bound) -> Row | None:
    downwards = sorted(family, key=lambda row: parse_policy(row.policy).amount or 0, reverse=True)
    passing = list(takewhile(lambda row: passes(row, floor, reference, bound), downwards))
    return passing[-1] if passing else None


def _floor(row: Row) -> float:
    """The share of fresh tokens under which a budget must not go; policies that have no share have no floor."""
    policy = parse_policy(row.policy)
    return float(policy.amount or 0) if policy.name in SCORED else 0.0
