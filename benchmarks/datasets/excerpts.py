"""The set of `chunking_evaluation`: documents, and questions with the excerpts of them that answer."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasets.files import shape_of
from benchmarks.errors import BadData

_QUESTIONS = "questions_df.csv"
_DOCUMENTS = "corpora"


@dataclass(frozen=True)
class ExcerptQuestion:
    """`excerpts`: [start, end) in characters of the text of `document`."""

    text: str
    document: str
    excerpts: tuple[tuple[int, int], ...]


def load_excerpts(folder: Path) -> tuple[dict[str, str], list[ExcerptQuestion]]:
    """Documents by name and all questions about them, in the file's order.

    Raises BadData when the folder lacks the set's files, or an excerpt does not stand where the set says.
    """
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / _DOCUMENTS).glob("*.md"))}
    path = folder / _QUESTIONS
    if not texts or not path.is_file():
        raise BadData(
            f"{folder} holds no {_DOCUMENTS}/*.md with {_QUESTIONS}.", "Name the folder of the set with --data."
        )
    with shape_of("chunking_evaluation", folder), path.open(encoding="utf-8", newline="") as file:
        return texts, [_question(row, texts) for row in csv.DictReader(file)]


def _question(row: Mapping[str, str], texts: Mapping[str, str]) -> ExcerptQuestion:
    name = row["corpus_id"]
    excerpts = []
    for reference in json.loads(row["references"]):
        start, end = int(reference["start_index"]), int(reference["end_index"])
        if texts[name][start:end] != reference["content"]:
            raise BadData(f"Characters {start} to {end} of {name} are not the excerpt that the set names.")
        excerpts.append((start, end))
    return ExcerptQuestion(row["question"], name, tuple(excerpts))
