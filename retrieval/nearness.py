"""How near a chunk is to a question: by meaning, and by the words they share."""

import math
from dataclasses import dataclass

from retrieval.words import content_words

_COSINE_SHARE = 2 / 3


@dataclass(frozen=True)
class Question:
    """`vector` is the embedding model's; `read`: whether that model can read the question's script.

    A model that cannot finds similar whatever it cannot read, so its cosine says nothing then.
    """

    text: str
    vector: list[float]
    read: bool = True


def nearness(question: Question, text: str, cosine: float | None) -> float:
    """⅔ of the cosine and ⅓ of the share of the question's content words that the text has; at most 1.

    Where one of them says nothing the other stands for both: the words for the cosine of an unread question and of a
    chunk without a comparable vector (None, or no finite number), the cosine for a question without content words. The
    weights are those of a logistic regression on XQuAD (docs/benchmarks.md, *Retrieval*).
    """
    words = content_words(question.text)
    shared = len(words & content_words(text)) / len(words) if words else None
    meant = cosine if question.read and cosine is not None and math.isfinite(cosine) else None
    if meant is None or shared is None:
        return meant or shared or 0.0
    return _COSINE_SHARE * meant + (1 - _COSINE_SHARE) * shared
