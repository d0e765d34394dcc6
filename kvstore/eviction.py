"""Which blobs go first when a tier is full."""

from enum import StrEnum


class Eviction(StrEnum):
    """VALUE: those that save least for the room they take, LRU: those used longest ago.

    VALUE is GreedyDual-Size with Frequency (Cherkasova, HP Labs 98-69): a blob's priority is what it saves a byte times
    how often it was used, above the priority of the last blob that had to go when it was used last. So what is not used
    any more is overtaken by what is, however much it was used before.
    """

    VALUE = "value"
    LRU = "lru"


__all__ = ["Eviction"]
