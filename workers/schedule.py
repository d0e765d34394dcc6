"""When the nightly job starts and stops: once for every date, also where clocks change."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from celery.schedules import BaseSchedule, schedstate


@dataclass(frozen=True)
class Window:
    """Both in UTC; `end` is no part of it."""

    start: datetime
    end: datetime


def next_start(after: datetime, at: time, zone: ZoneInfo) -> datetime:
    """The first start later than `after` (aware), in UTC.

    A wall time that the clocks skip counts as the instant it would have been without the change; one that comes twice
    counts the first time.
    """
    day = after.astimezone(zone).date() - timedelta(days=1)
    while (start := _start_on(day, at, zone)) <= after:
        day += timedelta(days=1)
    return start


def window_at(now: datetime, at: time, until: time, zone: ZoneInfo) -> Window | None:
    """The window that `now` (aware) lies in, from wall time `at` to the next `until`; None: outside of every one.

    Where the clocks skip so much that it would end before it starts, it lasts as long as on other nights.
    """
    today = now.astimezone(zone).date()
    for day in (today, today - timedelta(days=1)):
        window = _window_on(day, at, until, zone)
        if window.start <= now < window.end:
            return window
    return None


def _window_on(day: date, at: time, until: time, zone: ZoneInfo) -> Window:
    start = _start_on(day, at, zone)
    overnight = until <= at
    end = _start_on(day + timedelta(days=overnight), until, zone)
    if end <= start:
        end = start + (datetime.combine(day, until) - datetime.combine(day, at))
    return Window(start, end)


def _start_on(day: date, at: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, at, tzinfo=zone).astimezone(UTC)


class Nightly(BaseSchedule):
    """A Celery schedule over `next_start`. A start missed while beat was down is made up when it comes back."""

    def __init__(self, at: str, zone: str) -> None:
        super().__init__()
        self.at = at
        self.zone = zone

    def is_due(self, last_run_at: datetime) -> schedstate:
        at, zone = time.fromisoformat(self.at), ZoneInfo(self.zone)
        now = self.now()
        due = next_start(last_run_at, at, zone) <= now
        return schedstate(due, (next_start(now, at, zone) - now).total_seconds())

    def remaining_estimate(self, last_run_at: datetime) -> timedelta:
        return next_start(last_run_at, time.fromisoformat(self.at), ZoneInfo(self.zone)) - self.now()

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.at, self.zone)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nightly) and (self.at, self.zone) == (other.at, other.zone)

    def __hash__(self) -> int:
        return hash((self.at, self.zone))

    def __repr__(self) -> str:
        return f"<nightly: {self.at} {self.zone}>"
