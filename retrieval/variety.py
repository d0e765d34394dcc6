"""Passages that say something each: copies left out, and, where wanted, likeness held against a passage."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Protocol, TypeVar

from retrieval.words import search_terms

_ALMOST_ALL = 0.9


class HasText(Protocol):
    @property
    def text(self) -> str: ...


Texted = TypeVar("Texted", bound=HasText)


def without_copies(passages: Sequence[Texted]) -> list[Texted]:
    """The passages in their order, without those that nearly repeat an earlier one.

    That is: the same words in the same order whatever the case, width, punctuation and function words, or at least
    90 % of all pairs of neighbouring words in common (Jaccard). The first, which is the best, stays.
    """
    kept: list[tuple[Texted, set[tuple[str, str]], list[str]]] = []
    for passage in passages:
        terms = search_terms(passage.text)
        pairs = set(pairwise(terms))
        if not any(terms == others or _likeness(pairs, other) >= _ALMOST_ALL for _, other, others in kept):
            kept.append((passage, pairs, terms))
    return [passage for passage, _, _ in kept]


def most_varied(passages: Sequence[Texted], count: int, diversity: float) -> list[Texted]:
    """`count` of the passages, each the best that is not too like those chosen before it.

    Args:
        passages: best first; their rank stands for their relevance.
        diversity: 0 … 1: how much likeness to a chosen passage (Jaccard of the words) weighs against relevance.
    Source: Carbonell and Goldstein, The Use of MMR, SIGIR 1998.
    """
    relevances = [1 - rank / len(passages) for rank in range(len(passages))]
    terms = [set(search_terms(passage.text)) for passage in passages]
    rest = list(zip(passages, terms, relevances, strict=True))
    chosen: list[tuple[Texted, set[str], float]] = []
    while rest and len(chosen) < count:
        best = max(
            rest,
            key=lambda each: (1 - diversity) * each[2]
            - diversity * max((_likeness(each[1], other) for _, other, _ in chosen), default=0.0),
        )
        rest.remove(best)
        chosen.append(best)
    return [passage for passage, _, _ in chosen]


def _likeness(left: AbstractSet[object], right: AbstractSet[object]) -> float:
    both = len(left & right)
    return both / (len(left) + len(right) - both) if both else 0.0
