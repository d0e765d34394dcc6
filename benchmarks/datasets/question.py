"""One question with the passages that may answer it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Passage:
    """`before` is what precedes it in its own document (empty: nothing, or nobody knows).

    `supports` says that the set marks it as one that the answer rests on.
    """

    text: str
    before: str = ""
    supports: bool = False


@dataclass(frozen=True)
class Question:
    """`name` finds it in its set. `answers`: any of them is right; none: nobody knows what is."""

    name: str
    text: str
    passages: tuple[Passage, ...]
    answers: tuple[str, ...] = ()
