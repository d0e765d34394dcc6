"""MuSiQue in the form that CacheBlend's authors published: ten passages a question, all in lower case."""

from pathlib import Path
from typing import Any

from benchmarks.datasets.files import read_json, shape_of
from benchmarks.datasets.question import Passage, Question
from benchmarks.errors import BadData

_NAME = "musique"
_ANSWERABLE = "answerable_ids.txt"


def load_musique(folder: Path) -> list[Question]:
    """Only the questions whose places stand in `answerable_ids.txt`: the passages of the others lack the answer.

    Raises BadData.
    """
    rows = read_json(folder, _NAME, "musique*.json")
    listed = (folder if folder.is_dir() else folder.parent) / _ANSWERABLE
    if not listed.is_file():
        raise BadData(
            f"{listed} is missing.", "It lists, one a line, the places of the questions that can be answered."
        )
    with shape_of(_NAME, folder):
        return [_question(place, rows[place]) for place in map(int, listed.read_text().split())]


def _question(place: int, row: dict[str, Any]) -> Question:
    texts = [f"{context['title']}\n{context['text']}".strip() for context in row["ctxs"]]
    return Question(f"{_NAME}/{place}", row["question"], tuple(map(Passage, texts)), tuple(row["answers"]))
