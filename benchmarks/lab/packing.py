"""Passages cut or packed into the chunks of one prompt."""

import random
from collections.abc import Sequence

from benchmarks.context import Piece
from benchmarks.lab.data import Passage
from generator.chat import ChatTokenizer
from retrieval.chunking import split
from retrieval.parsing import ParsedDocument


def pack(
    tokenizer: ChatTokenizer, passages: Sequence[Passage], chunk_tokens: int, context_tokens: int, seed: int
) -> list[Piece]:
    """Chunks that together have about `context_tokens` tokens, in an order drawn by `seed`.

    The passages, in their order, are one document for the product's own splitter, which cuts at sentence ends;
    `chunk_tokens` 0 takes each passage as one chunk. The last chunk is the one that passes `context_tokens`, or the
    one before it where that comes closer.
    """
    pieces = _whole(tokenizer, passages) if chunk_tokens == 0 else _cut(tokenizer, passages, chunk_tokens)
    chunks: list[Piece] = []
    total = 0
    for piece in pieces:
        over = total + len(piece.ids) - context_tokens
        if len(chunks) > 1 and over > context_tokens - total:
            break
        chunks.append(piece)
        total += len(piece.ids)
        if total >= context_tokens:
            break
    random.Random(seed).shuffle(chunks)  # noqa: S311 - sampling, not secrecy
    return chunks


def _whole(tokenizer: ChatTokenizer, passages: Sequence[Passage]) -> list[Piece]:
    return [
        Piece(tuple(tokenizer.encode(passage.text)), tuple(tokenizer.encode(passage.before))) for passage in passages
    ]


def _cut(tokenizer: ChatTokenizer, passages: Sequence[Passage], chunk_tokens: int) -> list[Piece]:
    text = "\n\n".join(passage.text for passage in passages)
    chunks: list[Piece] = []
    before: tuple[int, ...] = ()
    for chunk in split(ParsedDocument("", "text/plain", text), tokenizer, chunk_tokens):
        chunks.append(Piece(tuple(chunk.token_ids), before))
        before = tuple(chunk.token_ids)
    return chunks
