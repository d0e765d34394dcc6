"""A library to be searched: chunks, and questions with the chunks that answer them."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LibraryChunk:
    """Characters [start, end) of `document`, where the set tells."""

    name: str
    document: str
    text: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Sought:
    """`relevant`: chunk names with their grade, the higher the better; `excerpts`: [start, end) in `document`.

    `document` is the one that answers, "" where that is not one.
    """

    text: str
    relevant: Mapping[str, int]
    document: str = ""
    excerpts: tuple[tuple[int, int], ...] = field(default=())


@dataclass(frozen=True)
class Library:
    chunks: tuple[LibraryChunk, ...]
    questions: tuple[Sought, ...]
