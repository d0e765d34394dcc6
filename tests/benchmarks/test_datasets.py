"""Question sets read by path, and what is said about a path that is wrong. The files are small ones of our own."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from benchmarks.datasets import QuestionSet, load_questions
from benchmarks.errors import BadData

SETS = list(QuestionSet)


def write(folder: Path, name: str, body: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(body))
    return path


def musique(folder: Path) -> Path:
    rows = [
        {"question": f"question {i}", "answers": ["red", "scarlet"], "ctxs": [{"title": t, "text": "it is red"}]}
        for i, t in enumerate(["", "Colours", ""])
    ]
    write(folder, "musique_s.json", rows)
    (folder / "answerable_ids.txt").write_text("1\n2\n")
    return folder


def hotpotqa(folder: Path) -> Path:
    row = {
        "_id": "q1", "question": "Which?", "answer": "yes", "supporting_facts": [["B", 0]],
        "context": [["A", ["One. ", "Two."]], ["B", ["Three."]]],
    }  # fmt: skip
    write(folder, "hotpotqa_train.json", [row])
    return folder


def xquad(folder: Path) -> Path:
    def paragraph(number: int) -> dict[str, Any]:
        answers = [{"text": f"answer {number}"}, {"text": f"answer {number}"}]
        return {"context": f"paragraph {number}", "qas": [{"id": f"q{number}", "question": "?", "answers": answers}]}

    write(folder, "xquad.en.json", {"data": [{"paragraphs": [paragraph(n) for n in range(4)]}]})
    return folder


MAKERS = {QuestionSet.MUSIQUE: musique, QuestionSet.HOTPOTQA: hotpotqa, QuestionSet.XQUAD: xquad}


def test_musique_gives_only_the_questions_that_can_be_answered(tmp_path: Path) -> None:
    first, second = load_questions(QuestionSet.MUSIQUE, musique(tmp_path))
    assert (first.name, first.text, first.answers) == ("musique/1", "question 1", ("red", "scarlet"))
    assert first.passages[0].text == "Colours\nit is red"
    assert second.passages[0].text == "it is red"


def test_hotpotqa_joins_sentences_and_marks_what_the_answer_rests_on(tmp_path: Path) -> None:
    (question,) = load_questions(QuestionSet.HOTPOTQA, hotpotqa(tmp_path))
    assert [passage.text for passage in question.passages] == ["A\nOne. Two.", "B\nThree."]
    assert [passage.supports for passage in question.passages] == [False, True]
    assert question.answers == ("yes",)


def test_xquad_puts_a_questions_own_paragraph_among_the_others_and_knows_what_precedes_each(tmp_path: Path) -> None:
    questions = load_questions(QuestionSet.XQUAD, xquad(tmp_path))
    assert {question.name for question in questions} == {f"xquad/q{n}" for n in range(4)}
    for question in questions:
        number = int(question.name[-1])
        own, *others = question.passages
        assert (own.text, own.supports) == (f"paragraph {number}", True)
        assert own.before == (f"paragraph {number - 1}" if number else "")
        assert sorted(passage.text for passage in others) == [f"paragraph {n}" for n in range(4) if n != number]
        assert not any(passage.supports for passage in others)
        assert question.answers == (f"answer {number}",)


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_the_same_on_every_run(tmp_path: Path, name: QuestionSet) -> None:
    folder = MAKERS[name](tmp_path)
    assert load_questions(name, folder) == load_questions(name, folder)


@pytest.mark.parametrize("name", SETS)
def test_the_file_itself_may_be_named(tmp_path: Path, name: QuestionSet) -> None:
    folder = MAKERS[name](tmp_path)
    assert load_questions(name, next(folder.glob("*.json"))) == load_questions(name, folder)


@pytest.mark.parametrize("name", SETS)
def test_a_folder_that_does_not_exist_is_named(tmp_path: Path, name: QuestionSet) -> None:
    with pytest.raises(BadData, match="nowhere is no folder"):
        load_questions(name, tmp_path / "nowhere")


@pytest.mark.parametrize("name", SETS)
def test_a_folder_without_the_sets_file_is_named_with_what_it_lacks(tmp_path: Path, name: QuestionSet) -> None:
    with pytest.raises(BadData, match=rf"holds no {name[:6]}.*\.json"):
        load_questions(name, tmp_path)


@pytest.mark.parametrize(("name", "other"), list(permutations(SETS, 2)))
def test_the_file_of_another_set_is_refused(tmp_path: Path, name: QuestionSet, other: QuestionSet) -> None:
    path = next(MAKERS[other](tmp_path).glob("*.json"))
    (tmp_path / "answerable_ids.txt").write_text("0")
    with pytest.raises(BadData, match=f"is not the {name} set"):
        load_questions(name, path)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("text", ["", "{", "\udcff"])
def test_a_file_without_json_is_refused(tmp_path: Path, name: QuestionSet, text: str) -> None:
    path = tmp_path / f"{name}.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(BadData, match="cannot be read as JSON"):
        load_questions(name, path)


def test_musique_without_its_list_is_refused(tmp_path: Path) -> None:
    (musique(tmp_path) / "answerable_ids.txt").unlink()
    with pytest.raises(BadData, match=r"answerable_ids\.txt is missing"):
        load_questions(QuestionSet.MUSIQUE, tmp_path)


@pytest.mark.parametrize("ids", ["one", "99"])
def test_musique_with_a_list_that_does_not_fit_is_refused(tmp_path: Path, ids: str) -> None:
    (musique(tmp_path) / "answerable_ids.txt").write_text(ids)
    with pytest.raises(BadData, match="is not the musique set"):
        load_questions(QuestionSet.MUSIQUE, tmp_path)
