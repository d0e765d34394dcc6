"""The chunks that a benchmark puts before the model for a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from random import Random

from benchmarks.datasets import Passage, Question
from benchmarks.errors import BadData
from benchmarks.words import holds
from generator.chat import ChatTokenizer
from retrieval.chunking import split
from retrieval.parsing import ParsedDocument

_SLACK_TOKENS = 32


@dataclass(frozen=True)
class Piece:
    """A chunk's token ids, and those of the text that precedes it in its own document."""

    ids: tuple[int, ...]
    before: tuple[int, ...]


@dataclass(frozen=True)
class Asked:
    """A question with the chunks of its context in prompt order."""

    question: Question
    pieces: tuple[Piece, ...]


def in_context(
    question: Question, tokenizer: ChatTokenizer, chunks: int, chunk_tokens: int, *, joined: bool = False
) -> Asked:
    """Cut the passages into chunks of at most `chunk_tokens` tokens and keep `chunks` of them.

    `joined` makes one text of all passages first, so that chunks are as long as allowed whatever the passages' length.
    Chunks that hold an answer are kept first, then those of passages that support it, then others in order. They stand
    in an order of the question's own, the same on every run. Raises BadData when nothing is left to ask about.
    """
    found = [
        (piece, text, passage.supports)
        for passage in (_joined(question.passages) if joined else question.passages)
        for piece, text in _cut(passage, tokenizer, chunk_tokens)
    ]
    if not found:
        raise BadData(f"The passages of {question.name} are empty.", "See the data set.")
    found.sort(key=lambda each: (not holds(each[1], question.answers), not each[2]))
    kept = [piece for piece, _, _ in found[:chunks]]
    Random(question.name).shuffle(kept)  # noqa: S311
    return Asked(question, tuple(kept))


def _joined(passages: Sequence[Passage]) -> tuple[Passage]:
    return (Passage("\n\n".join(passage.text for passage in passages)),)


def _cut(passage: Passage, tokenizer: ChatTokenizer, chunk_tokens: int) -> Sequence[tuple[Piece, str]]:
    """Chunks of nearly equal length, at sentence ends, so that no stub is left over."""
    total = len(tokenizer.encode(passage.text))
    if not total:
        return []
    even = ceil(total / ceil(total / chunk_tokens)) + _SLACK_TOKENS
    pieces = []
    before = tuple(tokenizer.encode(passage.before))
    parsed = ParsedDocument(title="", media_type="text/plain", text=passage.text)
    for chunk in split(parsed, tokenizer, min(chunk_tokens, even)):
        pieces.append((Piece(tuple(chunk.token_ids), before), chunk.text))
        before = tuple(chunk.token_ids)
    return pieces
