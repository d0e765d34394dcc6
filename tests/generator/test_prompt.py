import pytest

from app.core.settings import Settings
from generator.chat import ChatFrame
from generator.errors import QuestionTooLong
from generator.fusion_request import SegmentKind
from generator.preamble import build_preamble
from generator.prompt import assemble, chunk_prompt, fixed_pieces, number_ids
from kvstore.key import Reading


class Letters:
    """One id per character."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def frame(self, system: str) -> ChatFrame:
        return ChatFrame((1, *self.encode(system), 2), (3,))


LETTERS = Letters()
PREAMBLE = build_preamble(LETTERS, Settings(system_prompt="S"))
CHUNKS = [LETTERS.encode("first"), LETTERS.encode("second")]


def test_the_ids_that_were_precomputed_are_the_ids_that_are_prompted() -> None:
    prompt = assemble(LETTERS, PREAMBLE, CHUNKS, "why?", 1000)
    chunks = [s for s in prompt.segments if s.kind is SegmentKind.CHUNK]
    assert [prompt.token_ids[s.start : s.end] for s in chunks] == CHUNKS
    assert all(s.readings == (Reading.OPENING,) for s in chunks)


def test_segments_cover_the_context_without_gaps_and_the_question_follows() -> None:
    prompt = assemble(LETTERS, PREAMBLE, CHUNKS, "why?", 1000)
    assert [s.start for s in prompt.segments] == [0, *(s.end for s in prompt.segments[:-1])]
    rest = prompt.token_ids[prompt.segments[-1].end :]
    assert "why?" in "".join(map(chr, rest))
    assert rest[-1] == 3


def test_numbers_stand_before_passages_as_texts_of_their_own() -> None:
    prompt = assemble(LETTERS, PREAMBLE, CHUNKS, "why?", 1000)
    text = "".join(map(chr, prompt.token_ids))
    assert text.index("[1] first") < text.index("[2] second")
    between = [s for s in prompt.segments if s.kind is SegmentKind.TEXT]
    assert [prompt.token_ids[s.start : s.end] for s in between] == [number_ids(LETTERS, 2)]


def test_no_chunk_at_all_still_makes_a_prompt() -> None:
    prompt = assemble(LETTERS, PREAMBLE, [], "why?", 1000)
    assert [s.kind for s in prompt.segments] == [SegmentKind.PREAMBLE]


def test_a_prompt_that_just_fits_is_taken_and_one_token_more_is_refused_naming_the_limit() -> None:
    size = len(assemble(LETTERS, PREAMBLE, CHUNKS, "why?", 1000).token_ids)
    assemble(LETTERS, PREAMBLE, CHUNKS, "why?", size)
    with pytest.raises(QuestionTooLong, match=str(size - 1)):
        assemble(LETTERS, PREAMBLE, CHUNKS, "why?", size - 1)


def test_a_chunk_is_pre_read_right_behind_the_preamble() -> None:
    prompt = chunk_prompt(PREAMBLE, CHUNKS[0])
    assert prompt.token_ids == [*PREAMBLE.ids, *CHUNKS[0]]
    assert [s.kind for s in prompt.segments] == [SegmentKind.PREAMBLE, SegmentKind.CHUNK]


def test_a_chunk_is_pre_read_behind_its_conditioning_passage() -> None:
    passage = LETTERS.encode("something before")
    prompt = chunk_prompt(PREAMBLE, CHUNKS[0], passage)
    assert prompt.token_ids == [*PREAMBLE.ids, *passage, *CHUNKS[0]]
    assert [s.kind for s in prompt.segments] == [SegmentKind.PREAMBLE, SegmentKind.TEXT, SegmentKind.CHUNK]
    assert [s.readings for s in prompt.segments[1:]] == [(), ()]


def test_a_passage_that_is_kept_itself_is_taken_from_the_store() -> None:
    prompt = chunk_prompt(PREAMBLE, CHUNKS[0], LETTERS.encode("neutral"), passage_stored=True)
    assert prompt.segments[1].readings == (Reading.OPENING,)


def test_conditioned_readings_serve_every_place_and_the_first_prefers_an_opening_one() -> None:
    prompt = assemble(LETTERS, PREAMBLE, [*CHUNKS, LETTERS.encode("third")], "why?", 1000, conditioned=True)
    chunks = [s.readings for s in prompt.segments if s.kind is SegmentKind.CHUNK]
    assert chunks == [(Reading.OPENING, Reading.CONDITIONED), (Reading.CONDITIONED,), (Reading.CONDITIONED,)]
    numbers = {s.readings for s in prompt.segments if s.kind is SegmentKind.TEXT}
    assert numbers == {(Reading.CONDITIONED, Reading.OPENING)}
    assert prompt.segments[0].readings == (Reading.OPENING,)


def test_the_preamble_is_pre_read_alone() -> None:
    prompt = chunk_prompt(PREAMBLE, PREAMBLE.ids)
    assert prompt.token_ids == list(PREAMBLE.ids)
    assert len(prompt.segments) == 1


def test_the_preamble_and_every_number_but_the_first_are_shared_by_all_prompts() -> None:
    pieces = fixed_pieces(LETTERS, PREAMBLE, 3)
    assert list(pieces) == [PREAMBLE.ids, LETTERS.encode("\n\n[2] "), LETTERS.encode("\n\n[3] ")]
    assert list(fixed_pieces(LETTERS, PREAMBLE, 1)) == [PREAMBLE.ids]
