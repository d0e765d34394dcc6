"""Made-up chunks that fill a library up."""

import numpy as np
import pytest

from benchmarks.datasets.library import LibraryChunk
from benchmarks.filler import fillers

CHUNKS = [LibraryChunk("a", "A", "one two three"), LibraryChunk("b", "B", "four five six seven")]
WORDS = {word for chunk in CHUNKS for word in chunk.text.split()}
VECTORS = [[1.0, 0.0], [0.0, 1.0]]


def test_they_are_of_the_librarys_words_and_lengths_and_the_same_each_time() -> None:
    made = [each.chunk for each in fillers(CHUNKS, VECTORS, 25)]
    assert made == [each.chunk for each in fillers(CHUNKS, VECTORS, 25)]
    assert {len(chunk.text.split()) for chunk in made} == {3, 4}
    assert {word for chunk in made for word in chunk.text.split()} == WORDS
    assert len({chunk.name for chunk in made}) == 25
    assert len({chunk.document for chunk in made}) == 3


def test_their_vectors_lie_between_those_of_the_library_and_have_length_one() -> None:
    vectors = np.array([each.vector for each in fillers(CHUNKS, VECTORS, 25)])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    assert (vectors >= 0).all()


def test_a_library_that_is_large_enough_is_not_filled() -> None:
    assert list(fillers(CHUNKS, VECTORS, -1)) == []
