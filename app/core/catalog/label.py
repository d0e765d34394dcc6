"""What may be a label: the name of a collection or a tag."""

import unicodedata
from collections.abc import Iterable
from enum import StrEnum

from app.core.catalog.errors import BadLabel, TooManyLabels

MOST_LABELS = 50
_LONGEST = 64
_FORBIDDEN = ("Cc", "Cs", "Zl", "Zp")


class LabelKind(StrEnum):
    COLLECTION = "collection"
    TAG = "tag"


def labels_from(values: Iterable[str], kind: LabelKind) -> tuple[str, ...]:
    """The labels, stripped, in NFC, each once and sorted.

    Raises: BadLabel for an empty one, one of more than 64 characters or one with control characters.
    """
    return tuple(sorted({_label(value, kind) for value in values}))


def few_enough(labels: tuple[str, ...], kind: LabelKind) -> tuple[str, ...]:
    """The same labels. Raises TooManyLabels for more than 50."""
    if len(labels) > MOST_LABELS:
        raise TooManyLabels(f"A document has at most {MOST_LABELS} {kind}s, and these would be {len(labels)}.")
    return labels


def _label(value: str, kind: LabelKind) -> str:
    label = unicodedata.normalize("NFC", value.strip())
    if not label or len(label) > _LONGEST or any(unicodedata.category(each) in _FORBIDDEN for each in label):
        raise BadLabel(
            f"{value[: 2 * _LONGEST]!r} cannot name a {kind}.",
            f"It has 1 to {_LONGEST} characters, none of them a control character.",
        )
    return label
