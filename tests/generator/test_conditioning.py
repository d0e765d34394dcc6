import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.chat import ChatFrame
from generator.conditioning import (
    NEUTRAL_TEXT,
    PASSAGE_TOKENS,
    Conditioning,
    Passages,
    neutral_passage,
    number_passage,
    passages,
    readings_of_every_chunk,
)
from generator.prompt import number_ids
from kvstore.key import Reading

CHUNKS = st.lists(st.lists(st.integers(0, 500), min_size=1, max_size=200), max_size=6)


class Letters:
    """One id per character."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def frame(self, system: str) -> ChatFrame:
        return ChatFrame(tuple(self.encode(system)), ())


LETTERS = Letters()


def joined(chunks: list[list[int]]) -> list[int]:
    return [token for chunk in chunks for token in chunk]


def of(conditioning: Conditioning) -> Passages:
    return passages(LETTERS, conditioning)


def test_the_neutral_passage_ends_as_whatever_stands_before_a_later_passage() -> None:
    assert neutral_passage(LETTERS) == (*LETTERS.encode(NEUTRAL_TEXT), *number_ids(LETTERS, 2))


@given(CHUNKS, st.booleans())
def test_neutral_conditioning_puts_no_documents_text_before_a_chunk(before: list[list[int]], shared: bool) -> None:
    passage = of(Conditioning.NEUTRAL).of(joined(before), shared=shared)
    assert (passage.token_ids, passage.own) == (neutral_passage(LETTERS), False)


@given(CHUNKS)
def test_document_conditioning_puts_the_end_of_the_documents_preceding_text_before_a_chunk(
    before: list[list[int]],
) -> None:
    passage = of(Conditioning.DOCUMENT).of(joined(before), shared=False)
    preceding = tuple(joined(before))
    if preceding:
        assert passage.token_ids == (*preceding[-PASSAGE_TOKENS:], *number_ids(LETTERS, 2))
    else:
        assert passage.token_ids == neutral_passage(LETTERS)
    assert passage.own == bool(preceding)


@given(CHUNKS)
def test_a_chunk_that_two_documents_share_is_read_behind_the_text_of_neither(before: list[list[int]]) -> None:
    passage = of(Conditioning.DOCUMENT).of(joined(before), shared=True)
    assert (passage.token_ids, passage.own) == (neutral_passage(LETTERS), False)


@pytest.mark.parametrize(
    ("conditioning", "opening_readings", "expected"),
    [
        (Conditioning.OFF, "all", {Reading.OPENING}),
        (Conditioning.OFF, "first", {Reading.OPENING}),
        (Conditioning.NEUTRAL, "all", {Reading.OPENING, Reading.CONDITIONED}),
        (Conditioning.DOCUMENT, "first", {Reading.CONDITIONED}),
    ],
)
def test_every_chunk_gets_the_readings_that_its_places_want(
    conditioning: Conditioning, opening_readings: str, expected: set[Reading]
) -> None:
    assert set(readings_of_every_chunk(conditioning, opening_readings)) == expected


def test_a_number_is_read_behind_neutral_passages_under_the_numbers_before_it() -> None:
    neutral = tuple(LETTERS.encode(NEUTRAL_TEXT))
    assert number_passage(LETTERS, 2).token_ids == neutral
    assert number_passage(LETTERS, 4).token_ids == (
        *neutral,
        *number_ids(LETTERS, 2),
        *neutral,
        *number_ids(LETTERS, 3),
        *neutral,
    )
    assert not number_passage(LETTERS, 4).own
