"""The chunks put before the model for a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.context import in_context
from benchmarks.datasets import Passage, Question
from benchmarks.errors import BadData
from generator.chat import ChatFrame


class Letters:
    """A token a character."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def frame(self, system: str) -> ChatFrame:
        raise AssertionError(f"cutting text needs no chat template for {system}")


def text_of(ids: tuple[int, ...]) -> str:
    return "".join(map(chr, ids))


def texts(question: Question, chunks: int, chunk_tokens: int, *, joined: bool = False) -> list[str]:
    return [text_of(each.ids) for each in in_context(question, Letters(), chunks, chunk_tokens, joined=joined).pieces]


def question(*passages: Passage, answers: tuple[str, ...] = ()) -> Question:
    return Question("q/1", "Which?", passages, answers)


SENTENCES = "First it rains. Then it snows. After that the sun comes out. In the end all is dry."


@given(st.integers(1, 8), st.integers(40, 200))
def test_no_chunk_is_longer_and_no_more_are_taken_than_asked_for(chunks: int, chunk_tokens: int) -> None:
    found = texts(question(*[Passage(SENTENCES * 3)] * 3), chunks, chunk_tokens)
    assert len(found) <= chunks
    assert all(len(text) <= chunk_tokens for text in found)


def test_what_holds_an_answer_is_kept_then_what_supports_it() -> None:
    passages = [Passage("Nothing."), Passage("Nor here."), Passage("It helps.", supports=True), Passage("It is Red!")]
    asked = question(*passages, answers=("the red",))
    assert texts(asked, 1, 64) == ["It is Red!"]
    assert sorted(texts(asked, 2, 64)) == ["It helps.", "It is Red!"]
    assert sorted(texts(asked, 3, 64)) == ["It helps.", "It is Red!", "Nothing."]


def test_a_long_passage_is_cut_into_chunks_of_like_length() -> None:
    lengths = [len(text) for text in texts(question(Passage("It rains here. " * 40)), 99, 500)]
    assert len(lengths) == 2
    assert max(lengths) < 2 * min(lengths)


def test_each_piece_knows_what_precedes_it_in_its_document() -> None:
    asked = in_context(question(Passage("It rains. " * 12, before="Before.")), Letters(), 9, 80)
    before = {text_of(piece.ids): text_of(piece.before) for piece in asked.pieces}
    assert "Before." in before.values()
    assert set(before.values()) - {"Before."} <= set(before)


def test_joined_passages_fill_chunks_whatever_their_length() -> None:
    many = question(*[Passage("It rains here.")] * 12)
    assert len(texts(many, 99, 80)) == 12
    assert len(texts(many, 99, 80, joined=True)) == 3


def test_the_order_is_the_questions_own_and_the_same_on_every_run() -> None:
    passages = [Passage(f"It is {number}.") for number in range(12)]
    first, again = (texts(question(*passages), 12, 64) for _ in range(2))
    other = texts(Question("q/2", "Which?", tuple(passages)), 12, 64)
    assert first == again
    assert sorted(first) == sorted(other)
    assert first != other


def test_a_question_without_any_text_is_refused_by_name() -> None:
    with pytest.raises(BadData, match="q/1"):
        in_context(question(Passage("")), Letters(), 6, 64)
