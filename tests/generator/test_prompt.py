from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.settings import Settings
from generator.chat import ChatFrame, ModelTokenizer, TurnFrame
from generator.errors import QuestionTooLong
from generator.fusion_request import SegmentKind
from generator.model_source import resolve_model
from generator.preamble import SYSTEM_PROMPT, build_preamble
from generator.prompt import Turn, assemble, chunk_prompt, fixed_pieces, number_ids
from kvstore.key import Reading


class Letters:
    """One id per character."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def frame(self, system: str) -> ChatFrame:
        return ChatFrame((1, *self.encode(system), 2), (3,), TurnFrame((4,), (5,)))


LETTERS = Letters()
PREAMBLE = build_preamble(LETTERS, Settings(system_prompt="S"))
TURNS = [Turn("who?", "Nobody."), Turn("where?", "Nowhere.")]
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


def behind(prompt) -> list[int]:
    return prompt.token_ids[prompt.segments[-1].end :]


def told(*texts: str) -> list[int]:
    """Letters of texts; a digit alone is the control token of that number."""
    return [token for text in texts for token in ([int(text)] if text.isdigit() else LETTERS.encode(text))]


def test_earlier_turns_stand_behind_the_passages_as_the_template_shows_them() -> None:
    prompt = assemble(LETTERS, PREAMBLE, CHUNKS, "when?", 1000, history=TURNS, history_tokens=500)
    assert behind(prompt) == told(
        *("\n\nQuestion: who?", "4", "Nobody.", "5"),
        *("Question: where?", "4", "Nowhere.", "5"),
        *("Question: when?", "3"),
    )
    assert prompt.history_tokens == len(behind(prompt)) - len(told("Question: when?", "3"))


def test_the_fused_context_is_the_same_in_every_turn_of_a_conversation() -> None:
    first = assemble(LETTERS, PREAMBLE, CHUNKS, "who?", 1000)
    later = assemble(LETTERS, PREAMBLE, CHUNKS, "when?", 1000, history=TURNS, history_tokens=500)
    assert later.segments == first.segments
    end = first.segments[-1].end
    assert later.token_ids[:end] == first.token_ids[:end]


def test_an_instruction_goes_with_the_question_and_leaves_the_context_alone() -> None:
    plain = assemble(LETTERS, PREAMBLE, CHUNKS, "when?", 1000)
    told_how = assemble(LETTERS, PREAMBLE, CHUNKS, "when?", 1000, instruction="Rhyme.")
    assert told_how.segments == plain.segments
    assert behind(told_how) == told("\n\nRhyme.\n\nQuestion: when?", "3")


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(0, 200), st.integers(0, 200))
def test_the_newest_whole_turns_that_fit_are_told_and_none_costs_the_question(sizes, budget, spare) -> None:
    turns = [Turn(f"q{place}" + "x" * size, f"a{place}.") for place, size in enumerate(sizes)]
    alone = assemble(LETTERS, PREAMBLE, CHUNKS, "when?", 10_000)
    most = len(alone.token_ids) + spare
    prompt = assemble(LETTERS, PREAMBLE, CHUNKS, "when?", most, history=turns, history_tokens=budget)
    assert len(prompt.token_ids) <= most
    assert prompt.history_tokens <= budget
    text = "".join(map(chr, behind(prompt)))
    present = [f"a{place}." in text for place in range(len(turns))]
    assert present == sorted(present), "an older turn is told where a newer one is not"
    assert sum(present) == text.count("\x05")
    if not all(present):
        longer = [*turns[len(turns) - sum(present) - 1 :]]
        size = sum(len(told(f"\n\nQuestion: {t.question}", "4", t.answer, "5")) for t in longer)
        assert size > min(budget, spare), "one more would have fitted"


def test_a_model_that_shows_no_turns_is_told_none() -> None:
    preamble = replace(PREAMBLE, turns=None)
    prompt = assemble(LETTERS, preamble, CHUNKS, "when?", 1000, history=TURNS, history_tokens=500)
    assert prompt == assemble(LETTERS, PREAMBLE, CHUNKS, "when?", 1000)


def test_the_packaged_models_splice_is_what_its_chat_template_makes_of_the_conversation() -> None:
    settings = Settings()
    tokenizer = ModelTokenizer(resolve_model(settings))
    preamble = build_preamble(tokenizer, settings)
    chunk = "Travel is paid."
    prompt = assemble(
        tokenizer, preamble, [tokenizer.encode(chunk)], "When?", 1000, history=TURNS, history_tokens=500
    )
    messages = [f"Passages:\n\n[1] {chunk}\n\nQuestion: who?", "Nobody.", "Question: where?", "Nowhere."]
    rendered = tokenizer._render(SYSTEM_PROMPT, [*messages, "Question: When?"])
    assert tokenizer._markup.decode(prompt.token_ids, skip_special_tokens=False) == rendered
    retokenised = tokenizer._markup.encode(rendered, add_special_tokens=False).ids
    end = prompt.segments[-1].end
    assert prompt.token_ids[end:] == retokenised[-len(prompt.token_ids[end:]) :]
