"""XQuAD: SQuAD paragraphs; a question's own is put among others of the set."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.datasets.files import read_json, shape_of
from benchmarks.datasets.question import Passage, Question

_NAME = "xquad"
_OTHERS = 60
_SEED = 11


def load_xquad(folder: Path) -> list[Question]:
    """Each question with its own paragraph and up to 60 others, the same on every run.

    Questions come in a shuffled order, also the same on every run: the file asks several in a row about one paragraph.
    Raises BadData.
    """
    articles = read_json(folder, _NAME, "xquad*.json")
    with shape_of(_NAME, folder):
        asked = [
            (passage, entry)
            for article in articles["data"]
            for passage, paragraph in zip(_passages(article), article["paragraphs"], strict=True)
            for entry in paragraph["qas"]
        ]
        everything = list(dict.fromkeys(passage for passage, _ in asked))
        Random(_SEED).shuffle(asked)  # noqa: S311
        return [_question(passage, entry, everything) for passage, entry in asked]


def _passages(article: dict[str, Any]) -> list[Passage]:
    """An article's paragraphs, each with the one before it."""
    texts = [paragraph["context"] for paragraph in article["paragraphs"]]
    return [Passage(text, before) for text, before in zip(texts, ["", *texts], strict=False)]


def _question(own: Passage, entry: dict[str, Any], everything: list[Passage]) -> Question:
    drawn = Random(f"{_SEED} {entry['id']}").sample(everything, min(_OTHERS, len(everything)))  # noqa: S311
    passages = (replace(own, supports=True), *(passage for passage in drawn if passage != own))
    answers = tuple(dict.fromkeys(answer["text"] for answer in entry["answers"]))
    return Question(f"{_NAME}/{entry['id']}", entry["question"], passages, answers)
