"""Two rankings of chunks made one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

_RANK_OFFSET = 60


def reciprocal_rank_fusion(rankings: Sequence[Mapping[str, float]]) -> list[str]:
    """All ids, best first: by the sum of 1 / (60 + rank), equal ones in the first ranking's order.

    Args:
        rankings: id to score; the higher the better.
    Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion Outperforms Condorcet, SIGIR 2009.
    """
    fused: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, each in enumerate(_best_first(ranking), start=1):
            fused[each] += 1 / (_RANK_OFFSET + rank)
    return _best_first(fused)


def score_fusion(rankings: Sequence[Mapping[str, float]]) -> list[str]:
    """All ids, best first: by the mean of their scores, each as a share of its ranking's highest.

    What a ranking lacks has the score 0 there. Source: Bruch, Gai and Ingber, An Analysis of Fusion Functions for
    Hybrid Retrieval, TOIS 2023: convex combination with scores divided by the highest.
    """
    fused: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        highest = max(ranking.values(), default=0.0)
        for each in _best_first(ranking):
            fused[each] += ranking[each] / highest if highest > 0 else 0.0
    return _best_first(fused)


def _best_first(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda each: -scores[each])
