"""What is done and what is killed, in which order: all of it follows from the seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from random import Random


class Victim(StrEnum):
    """WORKER: the parent and its children at once. WORKER_PARENT leaves the children to the supervisor."""

    WORKER = "worker"
    WORKER_PARENT = "worker's parent"
    WORKER_CHILD = "worker's child"
    WEB = "web"
    REDIS = "redis"
    BEAT = "beat"
    ENGINE = "engine"
    ENGINE_CORE = "engine's core"


class Change(StrEnum):
    """UPDATE: other bytes under the same name. COPY: the same bytes under another name. READ_AGAIN: all chunk KV of
    the document anew. RETURN: what was deleted is added again."""

    ADD = "add"
    UPDATE = "update"
    COPY = "copy"
    DELETE = "delete"
    RETURN = "return"
    READ_AGAIN = "read again"


class Stage(StrEnum):
    """When to kill: so long after the change was sent or answered, or once its document has come so far."""

    SENT = "sent"
    ANSWERED = "answered"
    PARSED = "parsed"
    CHUNKED = "chunked"
    INDEXED = "indexed"
    READ_IN_PART = "read in part"


class Way(StrEnum):
    """FUSED: 15 % fresh. FRESH: every token fresh, through the fused path. HANG_UP: the reader closes the stream."""

    FUSED = "fused"
    FRESH = "fresh"
    EXACT = "exact"
    HANG_UP = "hang up"


@dataclass(frozen=True)
class Round:
    """One change and one question, `page` and `about` being places in the list of pages, and who is killed meanwhile.

    `delay_seconds` passes once `stage` is reached.
    """

    number: int
    change: Change
    page: int
    about: int
    way: Way
    victims: tuple[Victim, ...]
    stage: Stage
    delay_seconds: float


ENGINE_SHARE = 0.055
_ENGINES = (Victim.ENGINE, Victim.ENGINE_CORE)
_WEIGHTS = {
    Victim.WORKER: 16,
    Victim.WORKER_PARENT: 12,
    Victim.WORKER_CHILD: 18,
    Victim.WEB: 24,
    Victim.REDIS: 18,
    Victim.BEAT: 6,
}
_TWO_AT_ONCE = 0.15
_STAGES = {
    Change.ADD: (*Stage,),
    Change.RETURN: (*Stage,),
    Change.UPDATE: (*Stage,),
    Change.COPY: (Stage.SENT, Stage.ANSWERED),
    Change.DELETE: (Stage.SENT, Stage.SENT, Stage.ANSWERED),
    Change.READ_AGAIN: (Stage.ANSWERED, Stage.READ_IN_PART),
}
_LONGEST_DELAY = {Stage.SENT: 0.4, Stage.ANSWERED: 1.5}
_LONGEST_LATER_DELAY = 0.3


def plan(seed: int, kills: int, pages: int, at_first: int) -> list[Round]:
    """Rounds with `kills` kills in all; the first `at_first` of the pages are there before the first one.

    The engine, which is slow to start, dies in a twentieth of them, but once at least.
    """
    draw = Random(seed)
    shelf = _Shelf(draw, pages, at_first)
    rounds = []
    for number, victims in enumerate(_groups(draw, _victims(draw, kills)), start=1):
        change, page = shelf.next_change()
        stage = draw.choice(_STAGES[change])
        delay = draw.uniform(0, _LONGEST_DELAY.get(stage, _LONGEST_LATER_DELAY))
        about, way = shelf.some_present(), draw.choice((Way.FUSED, *Way))
        rounds.append(Round(number, change, page, about, way, victims, stage, round(delay, 3)))
    return rounds


def _victims(draw: Random, kills: int) -> list[Victim]:
    engines = [_ENGINES[number % 2] for number in range(max(1, ceil(kills * ENGINE_SHARE)))] if kills else []
    others = draw.choices([*_WEIGHTS], [*_WEIGHTS.values()], k=kills - len(engines))
    # Spread evenly, so that short runs of the same seed are like long ones.
    step = kills / max(1, len(engines))
    for number, engine in enumerate(engines):
        others.insert(int(number * step + draw.uniform(0, step)), engine)
    return others


def _groups(draw: Random, victims: Sequence[Victim]) -> Iterator[tuple[Victim, ...]]:
    left = list(victims)
    while left:
        first = left.pop(0)
        together = left and left[0] is not first and draw.random() < _TWO_AT_ONCE
        yield (first, left.pop(0)) if together else (first,)


class _Shelf:
    """Which pages are there while the plan is made. More than half of them always are."""

    def __init__(self, draw: Random, pages: int, at_first: int) -> None:
        self._draw = draw
        self._present = set(range(at_first))
        self._never = set(range(at_first, pages))
        self._deleted: set[int] = set()
        self._fewest = max(1, pages // 2)

    def some_present(self) -> int:
        return self._draw.choice(sorted(self._present))

    def next_change(self) -> tuple[Change, int]:
        weights = {Change.UPDATE: 22, Change.READ_AGAIN: 12, Change.COPY: 6}
        if len(self._present) > self._fewest:
            weights[Change.DELETE] = 26
        if self._never:
            weights[Change.ADD] = 26
        if self._deleted:
            weights[Change.RETURN] = 18
        change = self._draw.choices([*weights], [*weights.values()])[0]
        return change, self._apply(change)

    def _apply(self, change: Change) -> int:
        if change is Change.ADD:
            return self._move(self._never, self._present)
        if change is Change.RETURN:
            return self._move(self._deleted, self._present)
        if change is Change.DELETE:
            return self._move(self._present, self._deleted)
        return self.some_present()

    def _move(self, source: set[int], target: set[int]) -> int:
        page = self._draw.choice(sorted(source))
        source.remove(page)
        target.add(page)
        return page
