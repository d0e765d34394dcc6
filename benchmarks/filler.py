"""Made-up chunks that fill a library up to a size, so that searching in a large one can be timed."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from benchmarks.datasets.library import LibraryChunk

_SEED = 17
_CHUNKS_A_DOCUMENT = 10
_PREFIX = "filler"


class Filler(NamedTuple):
    chunk: LibraryChunk
    vector: list[float]


def fillers(chunks: Sequence[LibraryChunk], vectors: Sequence[Sequence[float]], count: int) -> Iterator[Filler]:
    """`count` chunks as long as the library's, of its words as often as it has them; the same on every run.

    Their vectors lie between those of two of its chunks. `vectors` are those of `chunks`.
    """
    draw = Random(_SEED)  # noqa: S311
    words = [chunk.text.split() for chunk in chunks]
    pool = [word for text in words for word in text]
    for number in range(count):
        text = " ".join(draw.choices(pool, k=len(draw.choice(words))))
        between = np.add(draw.choice(vectors), draw.choice(vectors))
        vector = between / max(float(np.linalg.norm(between)), 1e-12)
        document = f"{_PREFIX} {number // _CHUNKS_A_DOCUMENT}"
        yield Filler(LibraryChunk(f"{_PREFIX} {number}", document, text), vector.tolist())
