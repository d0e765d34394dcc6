"""Which documents are worth being pre-read first."""

from collections.abc import Iterable

from app.core.catalog import Asked


def by_value(documents: Iterable[Asked]) -> list[str]:
    """Document ids, most asked for first; among equals those that missed more often, then as they come.

    How often its chunks were looked up is the best guess at how often they will be, and each look-up that finds its
    chunk KV saves the same work, so time spent on what is asked for most saves most.
    """
    return [
        each.document_id for each in sorted(documents, key=lambda each: (-(each.hits + each.misses), -each.misses))
    ]
