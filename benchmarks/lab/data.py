"""Questions with their passages, from the data sets' own files."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.errors import BadInput


@dataclass(frozen=True)
class Passage:
    """`before` is what precedes it in its own document; empty when nothing does."""

    text: str
    before: str = ""


@dataclass(frozen=True)
class Question:
    """The passages that hold the answer come first."""

    text: str
    passages: tuple[Passage, ...]


def load_questions(folder: Path, name: str, n: int, seed: int) -> list[Question]:
    """`n` questions of the data set `name` ("xquad", "musique" or "hotpotqa") in `folder`, drawn by `seed`.

    Raises BadInput when the set is unknown, its file is missing, or it has fewer questions.
    """
    if name not in _SETS:
        raise BadInput(f"“{name}” is not a data set.", f"Use one of {', '.join(_SETS)}.")
    file, questions_in = _SETS[name]
    if not (folder / file).is_file():
        raise BadInput(f"{folder / file} is missing.", "Name the folder that holds the data sets with --data.")
    questions = questions_in(folder / file, random.Random(seed))  # noqa: S311 - sampling, not secrecy
    if len(questions) < n:
        raise BadInput(f"{name} has {len(questions)} questions.", "Ask for fewer with --n.")
    return questions[:n]


def _xquad(path: Path, order: random.Random) -> list[Question]:
    """One question a paragraph: its own paragraph, the rest of its article, then paragraphs of other articles."""
    articles = [
        [(paragraph["context"], paragraph["qas"]) for paragraph in article["paragraphs"]]
        for article in json.loads(path.read_text())["data"]
    ]
    passages = [
        [Passage(text, article[at - 1][0] if at else "") for at, (text, _) in enumerate(article)]
        for article in articles
    ]
    questions = []
    for number, article in enumerate(articles):
        for at, (_, asked) in enumerate(article):
            gold = passages[number][at]
            own = [passage for passage in passages[number] if passage is not gold]
            others = [passage for other in passages if other is not passages[number] for passage in other]
            order.shuffle(others)
            questions.append(Question(order.choice(asked)["question"], (gold, *own, *others[:40])))
    order.shuffle(questions)
    return questions


def _musique(path: Path, order: random.Random) -> list[Question]:
    """Questions that the passages answer; passages with the answer in them first."""
    rows = json.loads(path.read_text())
    answerable = path.with_name("answerable_ids.txt").read_text().split()
    questions = []
    for row in (rows[int(number)] for number in answerable):
        answers = [str(answer).lower() for answer in row["answers"]]
        texts = [context["text"] for context in row["ctxs"]]
        texts.sort(key=lambda text: not any(answer in text.lower() for answer in answers))
        questions.append(Question(row["question"], tuple(map(Passage, texts))))
    order.shuffle(questions)
    return questions


def _hotpotqa(path: Path, order: random.Random) -> list[Question]:
    """Supporting paragraphs first, then the question's own distractors, then those of other questions."""
    rows = json.loads(path.read_text())
    questions = []
    for row in rows:
        supporting = {title for title, _ in row["supporting_facts"]}
        own = sorted(row["context"], key=lambda paragraph: paragraph[0] not in supporting)
        others = [paragraph for other in rows if other is not row for paragraph in other["context"]]
        texts = [_paragraph(paragraph) for paragraph in (*own, *order.sample(others, 40))]
        questions.append(Question(row["question"], tuple(map(Passage, texts))))
    order.shuffle(questions)
    return questions


def _paragraph(paragraph: Any) -> str:
    title, sentences = paragraph
    return f"{title}\n{''.join(sentences)}"


_SETS: dict[str, tuple[str, Callable[[Path, random.Random], list[Question]]]] = {
    "xquad": ("xquad_en/xquad.en.json", _xquad),
    "musique": ("cacheblend/musique_s.json", _musique),
    "hotpotqa": ("hotpotqa/hotpotqa_train.json", _hotpotqa),
}
