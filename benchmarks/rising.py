"""Whether quality falls anywhere as a policy's amount rises."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from benchmarks.interval import mean_of
from benchmarks.verdict import Verdict
from generator.policy import Policy, parse_policy

_MEASURES = ("kl_first_token", "kl_mean")


def rises(columns: Mapping[str, Sequence[Verdict]], floor: Sequence[Verdict]) -> list[dict[str, Any]]:
    """For each policy of which several amounts were measured: what the next larger one changes, question by question.

    `falls`: more divergence is left than noise explains: the whole 95 % interval of the change lies above what two
    exact runs differ by. `columns`: verdicts by policy as written.
    """
    parsed = sorted((parse_policy(name) for name in columns), key=_family)
    return [
        _change(measure, smaller, larger, columns, floor)
        for _, family in groupby((policy for policy in parsed if policy.amount is not None), key=_kind)
        for smaller, larger in pairwise(family)
        for measure in _MEASURES
    ]


def _change(
    measure: str,
    smaller: Policy,
    larger: Policy,
    columns: Mapping[str, Sequence[Verdict]],
    floor: Sequence[Verdict],
) -> dict[str, Any]:
    before, after = ([getattr(each, measure) for each in columns[str(policy)]] for policy in (smaller, larger))
    change = mean_of([new - old for old, new in zip(before, after, strict=True)])
    noise = mean_of([getattr(each, measure) for each in floor]).value
    falls = change.low is not None and noise is not None and change.low > noise
    return {"smaller": str(smaller), "larger": str(larger), "measure": measure, **change.to_json(), "falls": falls}


def _kind(policy: Policy) -> tuple[bool, str]:
    return policy.alone, policy.name


def _family(policy: Policy) -> tuple[tuple[bool, str], float]:
    return _kind(policy), policy.amount or 0
