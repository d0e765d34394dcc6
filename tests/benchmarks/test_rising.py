"""Quality against amount: a larger one that is worse than noise explains is told, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace

from test_verdicts import VERDICT

from benchmarks.rising import rises
from benchmarks.verdict import Verdict

FLOOR = [replace(VERDICT, kl_first_token=0.01, kl_mean=0.01)] * 3


def column(*divergences: float) -> Sequence[Verdict]:
    return [replace(VERDICT, kl_first_token=0.0, kl_mean=divergence) for divergence in divergences]


def falling(**columns: Sequence[Verdict]) -> list[tuple[str, str, str]]:
    named = {name.replace("_", "@.").replace("alone", "alone:"): rows for name, rows in columns.items()}
    return [(row["smaller"], row["larger"], row["measure"]) for row in rises(named, FLOOR) if row["falls"]]


def test_a_larger_amount_that_is_worse_on_every_question_falls() -> None:
    assert falling(impact_05=column(0.1, 0.2, 0.3), impact_1=column(0.2, 0.3, 0.4)) == [
        ("impact@.05", "impact@.1", "kl_mean")
    ]


def test_less_than_two_exact_runs_differ_by_is_noise() -> None:
    assert falling(impact_05=column(0.1, 0.2, 0.3), impact_1=column(0.105, 0.205, 0.305)) == []


def test_worse_on_some_questions_alone_is_not_shown_to_be_worse() -> None:
    assert falling(impact_05=column(0.1, 0.2, 0.3), impact_1=column(0.3, 0.1, 0.2)) == []


def test_amounts_are_compared_in_order_within_a_policy_and_a_reading() -> None:
    worse = {"impact_3": column(1, 1, 1), "impact_05": column(3, 3, 3), "impact_1": column(2, 2, 2)}
    rows = rises({name.replace("_", "@."): verdicts for name, verdicts in worse.items()}, FLOOR)
    assert [(row["smaller"], row["larger"]) for row in rows[::2]] == [
        ("impact@.05", "impact@.1"),
        ("impact@.1", "impact@.3"),
    ]
    assert falling(aloneimpact_05=column(0.1, 0.1, 0.1), impact_1=column(9, 9, 9), hkvd_15=column(5, 5, 5)) == []


def test_policies_without_amounts_have_nothing_to_raise() -> None:
    assert rises({"exact": column(0), "none": column(1)}, FLOOR[:1]) == []
