"""Which of the measured policies a model is to run at. Pure: measured rows in, a choice out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import mean

from generator.conditioning import Conditioning
from generator.policy import SCORED, parse_policy

REFERENCE = "alone:hkvd@.15"
"""What CacheBlend's users have now; the bound is a share of its error."""


@dataclass(frozen=True)
class Bound:
    """When answers count as kept.

    The mean KL divergence above the noise floor's is at most `kl_share` of the reference's (an excess no larger than
    the noise floor itself always passes, since it can hardly be told from none), and the share of answers identical to
    the exact run's is at most `identical_points` below that of two exact runs. Where nothing keeps them, the nearest is
    looked for among what computes at most `most_computed` of the token-layers.
    """

    kl_share: float = 0.5
    identical_points: float = 0.10
    most_computed: float = 0.10


@dataclass(frozen=True)
class Kept:
    """Means over the questions of one set."""

    kl_mean: float
    identical: float


@dataclass(frozen=True)
class Row:
    """One policy behind one passage; `sets` has one entry a question set, in the same order in every row."""

    policy: str
    conditioning: Conditioning
    effective_recompute: float
    sets: tuple[Kept, ...]


@dataclass(frozen=True)
class Choice:
    """`within_bound` is False when nothing passed, and the row is the one of least divergence."""

    row: Row
    floor: float
    within_bound: bool


@dataclass(frozen=True)
class Gate:
    """What rows are judged by, for each set: two exact runs' difference, and the reference's."""

    floors: tuple[Kept, ...]
    references: tuple[Kept, ...]
    bound: Bound

    def passes(self, row: Row) -> bool:
        """Whether the bound holds on every set."""
        return all(map(self._within, row.sets, self.floors, self.references))

    def _within(self, kept: Kept, floor: Kept, reference: Kept) -> bool:
        allowed = max(self.bound.kl_share * (reference.kl_mean - floor.kl_mean), floor.kl_mean)
        alike = kept.identical >= floor.identical - self.bound.identical_points
        return alike and kept.kl_mean - floor.kl_mean <= allowed

    def choose(self, rows: Sequence[Row]) -> Choice:
        """The row of least effective recompute among the smallest sufficient amounts.

        Of each policy behind each passage, the smallest amount counts from which on every larger measured one passes
        too: one that passes by luck below one that fails does not. Without any, the row of least divergence that is
        cheap enough, or of all if none is. `rows` must not be empty; `exact` is no candidate.
        """
        families: dict[tuple[str, bool, Conditioning], list[Row]] = {}
        for row in rows:
            policy = parse_policy(row.policy)
            families.setdefault((policy.name, policy.alone, row.conditioning), []).append(row)
        sufficient = [found for family in families.values() if (found := self._smallest(family)) is not None]
        if sufficient:
            best = min(sufficient, key=lambda row: (row.effective_recompute, _divergence(row)))
            return Choice(best, _floor(best), within_bound=True)
        cheap = [row for row in rows if row.effective_recompute <= self.bound.most_computed]
        nearest = min(cheap or rows, key=_divergence)
        return Choice(nearest, _floor(nearest), within_bound=False)

    def _smallest(self, family: Sequence[Row]) -> Row | None:
        downwards = sorted(family, key=lambda row: parse_policy(row.policy).amount or 0, reverse=True)
        passing = list(takewhile(self.passes, downwards))
        return passing[-1] if passing else None


def _divergence(row: Row) -> float:
    return mean(kept.kl_mean for kept in row.sets)


def _floor(row: Row) -> float:
    """The share of fresh tokens under which a budget must not go; policies that have no share have no floor."""
    policy = parse_policy(row.policy)
    return float(policy.amount or 0) if policy.name in SCORED else 0.0
