"""Question sets, read by path from where the user keeps them; nothing is copied."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from benchmarks.datasets.hotpotqa import load_hotpotqa
from benchmarks.datasets.musique import load_musique
from benchmarks.datasets.question import Passage, Question
from benchmarks.datasets.xquad import load_xquad

__all__ = ["Passage", "Question", "QuestionSet", "load_questions"]


class QuestionSet(StrEnum):
    MUSIQUE = "musique"
    HOTPOTQA = "hotpotqa"
    XQUAD = "xquad"


_LOADERS: dict[QuestionSet, Callable[[Path], list[Question]]] = {
    QuestionSet.MUSIQUE: load_musique,
    QuestionSet.HOTPOTQA: load_hotpotqa,
    QuestionSet.XQUAD: load_xquad,
}


def load_questions(name: QuestionSet, folder: Path) -> list[Question]:
    """Every usable question of the set in `folder`, in the file's order.

    Raises BadData when the folder lacks the set's file or the file is another one.
    """
    return _LOADERS[name](folder)
