"""What the catalog says of jobs and runs: frozen, detached from the database. Times are UTC-aware."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class JobState(StrEnum):
    """`dead`: given up until somebody retries it."""

    RUNNING = "running"
    WAITING = "waiting"
    DEAD = "dead"


@dataclass(frozen=True)
class Attempt:
    """A try that has begun: which one it is, and why the one before it did not end well."""

    number: int
    reason_code: str
    reason: str


@dataclass(frozen=True)
class Job:
    """What is to be done of one document now.

    `attempts` since its stage began; `due_at`: not before then, None: at once.
    """

    id: str
    task: str
    state: JobState
    document_id: str
    document_name: str
    attempts: int
    reason_code: str | None
    reason: str | None
    first_at: datetime
    last_at: datetime | None
    due_at: datetime | None


@dataclass(frozen=True)
class JobPage:
    """One page of jobs; `total` counts all pages'."""

    items: tuple[Job, ...]
    total: int


@dataclass(frozen=True)
class JobTally:
    """How many jobs of one task are in one state.

    `oldest_at`: since when the one has waited that has the longest, of those that wait; what is left to the night does
    not count. None: nothing waits.
    """

    task: str
    state: JobState
    jobs: int
    oldest_at: datetime | None


class RunKind(StrEnum):
    NIGHTLY = "nightly"
    MANUAL = "manual"


class RunState(StrEnum):
    """`stopped`: before everything was done."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Run:
    """One run of pre-reading. `skipped` documents lacked nothing.

    `tokens`, `bytes` and `reading_seconds` are of the readings it made. `tended`: what upkeep found and did; None: not
    done yet. The look-up counters are those of all time, when it started and when it ended.
    """

    id: str
    tenant: str
    kind: RunKind
    again: bool
    state: RunState
    reason: str
    started_at: datetime
    ended_at: datetime | None
    until: datetime | None
    planned: int
    done: int
    skipped: int
    failed: int
    tokens: int
    bytes: int
    reading_seconds: float
    hits_at_start: int
    lookups_at_start: int
    hits_at_end: int | None
    lookups_at_end: int | None
    tended: dict[str, Any] | None

    @property
    def left(self) -> int:
        return max(self.planned - self.done - self.skipped - self.failed, 0)

    @property
    def tokens_per_second(self) -> float | None:
        """None: it made nothing."""
        return self.tokens / self.reading_seconds if self.tokens and self.reading_seconds else None


@dataclass(frozen=True)
class Asked:
    """A document that could be pre-read, and how often its chunks were looked up."""

    document_id: str
    hits: int
    misses: int
