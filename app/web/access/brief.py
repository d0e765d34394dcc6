"""Remembering what was looked up, for a few seconds."""

from collections.abc import Callable
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_MOST = 10_000


class Brief(Generic[K, V]):
    """A mapping whose entries are gone after `seconds`. When it is full it begins anew."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._entries: dict[K, tuple[float, V]] = {}

    def get(self, key: K) -> V | None:
        entry = self._entries.get(key)
        return entry[1] if entry is not None and self._clock() < entry[0] else None

    def put(self, key: K, value: V) -> None:
        if len(self._entries) >= _MOST:
            self.clear()
        self._entries[key] = (self._clock() + self._seconds, value)

    def clear(self) -> None:
        self._entries.clear()
