"""At how many bytes the KV of one chunk is stored: one blob a level, under keys that follow from one another."""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from kvstore.identity import BlobIdentity
from kvstore.key import compact_key


class Level(StrEnum):
    """From the best on. HOT is the blob under the chunk's own key, COMPACT a smaller one under its `compact_key`."""

    HOT = "hot"
    COMPACT = "compact"


def at_level(identity: BlobIdentity, level: Level) -> BlobIdentity:
    """What a blob of this level says it is, for the `identity` of the hot one."""
    return identity if level is Level.HOT else replace(identity, key=compact_key(identity.key))


def at_all_levels(keys: Iterable[str]) -> dict[str, str]:
    """Every key under which something of the chunks of `keys` may lie, and the one of `keys` that it comes from.

    Raises: BadName for what is no key.
    """
    return {stored: key for key in keys for stored in (key, compact_key(key))}


__all__ = ["Level", "at_all_levels", "at_level"]
