"""Words as a sparse vector, so that the product of a chunk's and a question's vector is BM25.

score(q, d) = Σ over terms t of  count(t in q) · idf(t) · tf·(k1 + 1) / (tf + k1·(1 - b + b·|d| / usual))

The chunk's vector holds the last factor, the question's the first; idf is the index's to know and to apply. Source:
Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 3.4.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import xxhash

from retrieval.words import search_terms

_K1 = 1.5
_B = 0.75
_USUAL_TERMS = 150  # a fixed number in place of the mean, so that a chunk's vector depends on nothing but its text


class SparseVector(NamedTuple):
    """`indices` are terms as 32-bit numbers, ascending; `values` their weights."""

    indices: list[int]
    values: list[float]


def chunk_vector(text: str) -> SparseVector:
    terms = search_terms(text)
    norm = _K1 * (1 - _B + _B * len(terms) / _USUAL_TERMS)
    return _vector({term: count * (_K1 + 1) / (count + norm) for term, count in Counter(terms).items()})


def question_vector(question: str) -> SparseVector:
    return _vector(Counter(search_terms(question)))


def _vector(weights: Mapping[str, float]) -> SparseVector:
    """Terms that share a number share their weight: about one pair in 100,000 different terms."""
    numbered: defaultdict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        numbered[xxhash.xxh32_intdigest(term.encode())] += weight
    indices = sorted(numbered)
    return SparseVector(indices, [numbered[index] for index in indices])
