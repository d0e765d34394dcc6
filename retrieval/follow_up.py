"""Finding passages for a question that may lean on the one before it ("and for contractors?")."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from retrieval.search import Passage
from retrieval.words import content_words

_RANK_OFFSET = 60
_FEW_WORDS = 3


def retrieve_follow_up(
    retrieve: Callable[[str], list[Passage]], question: str, previous: str | None, top_k: int
) -> list[Passage]:
    """Passages for the question, with the previous question beside it where there is one.

    Both are searched: the question alone, and behind the previous one; their lists are fused by ranks (reciprocal rank
    fusion), the question alone winning ties. So a new subject keeps its best passage in first place, and a follow-up
    gets what both are about. Where nothing is near to the question alone, it is taken for a follow-up only if it has
    no more than three content words of its own: more of them say what it is about, and that is not in the documents.
    """
    alone = retrieve(question)
    if previous is None or not (alone or len(content_words(question)) <= _FEW_WORDS):
        return alone
    together = retrieve(f"{previous} {question}")
    return _fused(alone, together)[:top_k] if alone and together else alone or together


def _fused(first: Sequence[Passage], second: Sequence[Passage]) -> list[Passage]:
    """By rank, numbered anew; a passage in both lists keeps its first list's score."""
    passages = {passage.chunk_id: passage for passage in (*second, *first)}
    weights: dict[str, float] = {}
    for ranked in (first, second):
        for rank, passage in enumerate(ranked, start=1):
            weights[passage.chunk_id] = weights.get(passage.chunk_id, 0.0) + 1 / (_RANK_OFFSET + rank)
    ordered = sorted(weights, key=lambda chunk_id: -weights[chunk_id])
    return [replace(passages[chunk_id], n=n) for n, chunk_id in enumerate(ordered, start=1)]
