"""Figures over many questions, each with its interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.interval import Interval, interval_of, mean_of, median_of
from benchmarks.verdict import Verdict

QUALITY = ("f1", "em", "f1_vs_exact", "greedy_agreement", "identical", "kl_first_token", "kl_mean")
"""Means over questions."""


def quality(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {name: mean(verdicts, name).to_json() for name in QUALITY}


def cost(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Medians over questions: seconds to the first token, and the share of token-layers computed."""
    return {
        "ttft": median_of(_known(verdicts, "ttft_s")).to_json(),
        "effective_recompute": median_of(_known(verdicts, "effective_recompute")).to_json(),
    }


def mean(verdicts: Sequence[Verdict], name: str) -> Interval:
    """The mean of one field over the questions where it is known."""
    return mean_of(_known(verdicts, name))


def normalised_f1(these: Sequence[Verdict], plain: Sequence[Verdict], exact: Sequence[Verdict]) -> Interval:
    """(F1 - F1 of plain reuse) ÷ (F1 of exact - F1 of plain reuse), of means; undefined where those are equal.

    Source: the measure of the KV reuse literature (FusionRAG, arXiv 2601.12904).
    """
    rows = [
        (this.f1, reused.f1, full.f1)
        for this, reused, full in zip(these, plain, exact, strict=True)
        if this.f1 is not None and reused.f1 is not None and full.f1 is not None
    ]
    return interval_of(rows, _normalised)


def _known(verdicts: Sequence[Verdict], name: str) -> list[float]:
    return [value for each in verdicts if (value := getattr(each, name)) is not None]


def _normalised(table: NDArray[np.float64]) -> NDArray[np.float64]:
    this, reused, full = np.moveaxis(table.mean(axis=-2), -1, 0)
    return np.asarray((this - reused) / (full - reused))
