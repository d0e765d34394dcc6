"""How good rankings of passages are."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmarks.chunking import Place, found_in
from benchmarks.datasets.excerpts import ExcerptQuestion
from benchmarks.datasets.library import Sought
from benchmarks.interval import mean_of, median_of, percentile_of
from retrieval.search import Passage

_LIST = 10
_PROMPT = 6


def figures(
    questions: Sequence[Sought], found: Sequence[Sequence[Passage]], times: Sequence[float]
) -> dict[str, dict[str, float | int | None]]:
    """What one way of searching found, and how long it took for each question, in milliseconds."""
    ranked = [[passage.chunk_id for passage in passages] for passages in found]
    pairs = list(zip(ranked, questions, strict=True))
    measured = {
        "ndcg@10": mean_of([ndcg(names, question.relevant, _LIST) for names, question in pairs]),
        "hit@1": mean_of([hit(names, question.relevant) for names, question in pairs]),
        "recall@6": mean_of([recall(names, question.relevant, _PROMPT) for names, question in pairs]),
        "ms_p50": median_of(times),
        "ms_p95": percentile_of(times, 95),
    }
    if any(question.excerpts for question in questions):
        spans = [_spans(question, passages[:_PROMPT]) for question, passages in zip(questions, found, strict=True)]
        measured["span_recall@6"] = mean_of([held for held, _ in spans])
        measured["span_precision@6"] = mean_of([precise for _, precise in spans])
    return {name: interval.to_json() for name, interval in measured.items()}


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], depth: int) -> float:
    """Σ grade / log2(rank + 1) over the first `depth`, divided by the best there could be.

    Source: Järvelin and Kekäläinen, Cumulated Gain-Based Evaluation of IR Techniques, TOIS 2002.
    """
    best = _gain(sorted(relevant.values(), reverse=True)[:depth])
    return _gain([relevant.get(name, 0) for name in ranked[:depth]]) / best if best else 0.0


def hit(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    """1 where the first is relevant, else 0."""
    return float(bool(ranked) and ranked[0] in relevant)


def recall(ranked: Sequence[str], relevant: Mapping[str, int], depth: int) -> float:
    """The share of the relevant ones that are among the first `depth`."""
    return len(relevant.keys() & set(ranked[:depth])) / len(relevant) if relevant else 0.0


def nearest(passages: Sequence[Passage]) -> float:
    return max((passage.score for passage in passages), default=0.0)


def refusals(answerable: Sequence[float], unanswerable: Sequence[float], least: float) -> dict[str, Any]:
    """The shares of questions wrongly refused and wrongly answered where the nearest passage must be `least` near.

    Args:
        answerable: how near the nearest passage is, where the answer is in the library.
        unanswerable: the same where it is not.
    """
    return {
        "min_score": least,
        "false_refusal": fmean(score < least for score in answerable),
        "false_answer": fmean(score >= least for score in unanswerable),
    }


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _spans(question: Sought, passages: Sequence[Passage]) -> tuple[float, float]:
    """The shares of the excerpts' characters in the passages, and of the passages' characters in the excerpts."""
    places = [Place(passage.document_id, passage.start, passage.end, 0) for passage in passages]
    found = found_in(ExcerptQuestion(question.text, question.document, question.excerpts), places)
    return found.recall, found.precision
