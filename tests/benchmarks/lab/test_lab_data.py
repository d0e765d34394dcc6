"""Questions from the sets' files, and chunks from their passages."""

import json
from pathlib import Path

import pytest
from lab_model import LetterTokenizer

from app.core.errors import BadInput
from benchmarks.lab.data import Passage, load_questions
from benchmarks.lab.packing import pack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    articles = [
        {
            "paragraphs": [
                {"context": f"Article {article}, part {part}.", "qas": [{"question": f"What is {article}.{part}?"}]}
                for part in range(3)
            ]
        }
        for article in range(4)
    ]
    write(tmp_path / "xquad_en/xquad.en.json", {"data": articles})
    rows = [
        {"question": f"Who {n}?", "answers": [f"Ann {n}"], "ctxs": [{"text": "nobody"}, {"text": f"it was ann {n}"}]}
        for n in range(4)
    ]
    write(tmp_path / "cacheblend/musique_s.json", rows)
    (tmp_path / "cacheblend/answerable_ids.txt").write_text("1\n3\n")
    return tmp_path


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))


def test_an_xquad_question_has_its_own_paragraph_first_then_its_article(folder: Path) -> None:
    for question in load_questions(folder, "xquad", 12, seed=0):
        name = question.text.removeprefix("What is ").removesuffix("?")
        article, part = name.split(".")
        texts = [passage.text for passage in question.passages]
        assert texts[0] == f"Article {article}, part {part}."
        assert all(text.startswith(f"Article {article},") for text in texts[:3])
        assert len(set(texts)) == 12


def test_musique_keeps_answerable_questions_and_puts_the_answer_first(folder: Path) -> None:
    questions = load_questions(folder, "musique", 2, seed=0)
    assert {question.text for question in questions} == {"Who 1?", "Who 3?"}
    assert all(question.passages[0].text.startswith("it was ann") for question in questions)


def test_the_same_seed_draws_the_same_questions(folder: Path) -> None:
    assert load_questions(folder, "xquad", 5, seed=3) == load_questions(folder, "xquad", 5, seed=3)


def test_what_cannot_be_had_is_said(folder: Path) -> None:
    with pytest.raises(BadInput, match="is not a data set"):
        load_questions(folder, "squad", 1, 0)
    with pytest.raises(BadInput, match="is missing"):
        load_questions(folder, "hotpotqa", 1, 0)
    with pytest.raises(BadInput, match="has 2 questions"):
        load_questions(folder, "musique", 3, 0)


def test_passages_as_they_come_are_the_chunks_until_the_context_is_full() -> None:
    passages = [Passage(letter * 10, letter) for letter in "abcdef"]
    chunks = pack(LetterTokenizer(), passages, 0, 40, seed=0)
    assert len(chunks) == 4
    assert {chunk.ids for chunk in chunks} == {tuple(LetterTokenizer().encode(letter * 10)) for letter in "abcd"}
    assert all(chunk.ids[0] == chunk.before[0] for chunk in chunks)


def test_cut_chunks_keep_their_limit_and_know_what_precedes_them() -> None:
    passages = [Passage("One two. Three four. Five six."), Passage("Seven eight. Nine ten.")]
    chunks = pack(LetterTokenizer(), passages, 20, 1000, seed=0)
    assert all(len(chunk.ids) <= 20 for chunk in chunks)
    assert sum(chunk.before == () for chunk in chunks) == 1
    assert {chunk.before for chunk in chunks} - {()} <= {chunk.ids for chunk in chunks}
