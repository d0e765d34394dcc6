"""Which passages an answer rests on, and on which sentence of each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.search import Passage
from retrieval.sentences import sentence_spans
from retrieval.words import content_words

_MARK = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_NUMBER = re.compile(r"\d+")
_LEAST_SUPPORT = 0.5
_NEAR_BEST = 0.75


@dataclass(frozen=True)
class Citation:
    """`quote` is the document's `text[start:end]`; `score` is the passage's."""

    n: int
    document_id: str
    title: str
    page: int | None
    chunk_id: str
    start: int
    end: int
    quote: str
    score: float


@dataclass(frozen=True)
class _Claim:
    """A sentence of the answer: its content words, and the passages it marks."""

    words: frozenset[str]
    marks: frozenset[int]


@dataclass(frozen=True)
class _Support:
    """The share of a claim's words that the best sentence, `text[start:end]` of the passage, contains."""

    share: float
    start: int
    end: int


def cite(answer: str, passages: Sequence[Passage]) -> list[Citation]:
    """The passages that the answer marks (`[2]`, `[1, 3]`), each with the sentence that supports it best.

    An answer without such marks cites the passages that hold most of the content words of one of its sentences, which
    may be none.
    """
    claims = _claims(answer)
    marked = {mark for claim in claims for mark in claim.marks}
    if marked.intersection(passage.n for passage in passages):
        return [
            _citation(passage, _best_support([claim for claim in claims if passage.n in claim.marks], passage))
            for passage in passages
            if passage.n in marked
        ]
    supports = [(passage, _best_support(claims, passage)) for passage in passages]
    least = max([_LEAST_SUPPORT, *(_NEAR_BEST * support.share for _, support in supports)])
    return [_citation(passage, support) for passage, support in supports if support.share >= least]


def _claims(answer: str) -> list[_Claim]:
    claims = []
    words: frozenset[str] = frozenset()
    for start, end in sentence_spans(answer):
        sentence = answer[start:end]
        marks = frozenset(int(number) for mark in _MARK.findall(sentence) for number in _NUMBER.findall(mark))
        # A mark behind the full stop belongs to the sentence before it.
        words = frozenset(content_words(_MARK.sub(" ", sentence))) or words
        claims.append(_Claim(words, marks))
    return claims


def _best_support(claims: Sequence[_Claim], passage: Passage) -> _Support:
    sentences = [(content_words(passage.text[start:end]), start, end) for start, end in sentence_spans(passage.text)]
    supports = [
        _Support(len(claim.words & words) / len(claim.words), start, end)
        for claim in claims
        if claim.words
        for words, start, end in sentences
    ]
    first = _Support(0.0, *sentences[0][1:]) if sentences else _Support(0.0, 0, len(passage.text))
    return max([first, *supports], key=lambda support: support.share)


def _citation(passage: Passage, support: _Support) -> Citation:
    return Citation(
        n=passage.n,
        document_id=passage.document_id,
        title=passage.title,
        page=passage.page,
        chunk_id=passage.chunk_id,
        start=passage.start + support.start,
        end=passage.start + support.end,
        quote=passage.text[support.start : support.end],
        score=passage.score,
    )
