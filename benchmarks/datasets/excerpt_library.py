"""`chunking_evaluation` as a library: its documents cut into chunks as the service cuts them."""

from pathlib import Path

from benchmarks.datasets.excerpts import ExcerptQuestion, load_excerpts
from benchmarks.datasets.library import Library, LibraryChunk, Sought
from retrieval.chunking import split
from retrieval.parsing import parse
from retrieval.tokenizer import TokenEncoder


def load_excerpt_library(folder: Path, tokenizer: TokenEncoder, chunk_tokens: int) -> Library:
    """A chunk is relevant that holds a part of an excerpt. Raises BadData."""
    texts, asked = load_excerpts(folder)
    chunks = [
        LibraryChunk(f"{name} {chunk.ordinal}", name, chunk.text, chunk.start, chunk.end)
        for name, text in texts.items()
        for chunk in split(parse(text.encode(), f"{name}.md"), tokenizer, chunk_tokens)
    ]
    questions = [
        Sought(question.text, _holding(question, chunks), question.document, question.excerpts) for question in asked
    ]
    return Library(tuple(chunks), tuple(questions))


def _holding(question: ExcerptQuestion, chunks: list[LibraryChunk]) -> dict[str, int]:
    return {
        chunk.name: 1
        for chunk in chunks
        if chunk.document == question.document
        and any(start < chunk.end and chunk.start < end for start, end in question.excerpts)
    }
