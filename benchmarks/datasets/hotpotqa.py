"""HotpotQA with distractors: ten paragraphs a question, two of which hold the answer."""

from pathlib import Path
from typing import Any

from benchmarks.datasets.files import read_json, shape_of
from benchmarks.datasets.question import Passage, Question

_NAME = "hotpotqa"


def load_hotpotqa(folder: Path) -> list[Question]:
    """Raises BadData."""
    rows = read_json(folder, _NAME, "hotpot*.json")
    with shape_of(_NAME, folder):
        return [_question(row) for row in rows]


def _question(row: dict[str, Any]) -> Question:
    support = {title for title, _ in row["supporting_facts"]}
    passages = tuple(
        Passage(f"{title}\n{''.join(sentences)}", supports=title in support) for title, sentences in row["context"]
    )
    return Question(f"{_NAME}/{row['_id']}", row["question"], passages, (row["answer"],))
