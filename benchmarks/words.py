"""Answers compared by their words, as SQuAD does: case, punctuation and articles do not count."""

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def words(text: str) -> list[str]:
    """The words that count. Source: SQuAD's `normalize_answer` (arXiv 1606.05250)."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def f1(answer: str, golds: Sequence[str]) -> float:
    """Harmonic mean of precision and recall over words, against the gold that fits best; 0 … 1."""
    return max(_f1(words(answer), words(gold)) for gold in golds)


def exact_match(answer: str, golds: Sequence[str]) -> float:
    """1 when the words are those of one of the golds, else 0."""
    return float(any(words(answer) == words(gold) for gold in golds))


def holds(text: str, golds: Sequence[str]) -> bool:
    """Whether the words of one of the golds stand in `text` one after the other."""
    found = words(text)
    return any(_run(wanted, found) for gold in golds if (wanted := words(gold)))


def _run(wanted: Sequence[str], found: Sequence[str]) -> bool:
    return any(found[at : at + len(wanted)] == wanted for at in range(len(found) - len(wanted) + 1))


def _f1(answer: Sequence[str], gold: Sequence[str]) -> float:
    if not answer or not gold:
        return float(answer == gold)
    shared = (Counter(answer) & Counter(gold)).total()
    return 2 * shared / (len(answer) + len(gold))
