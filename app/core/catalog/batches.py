"""Long lists of values in pieces that one SQL statement can bear."""

from collections.abc import Iterable, Iterator
from itertools import islice

_BATCH = 500


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """Distinct values in sorted order (so that writers lock rows in one order), 500 at a time."""
    ordered = iter(sorted(set(values)))
    while batch := list(islice(ordered, _BATCH)):
        yield batch
