"""The nightly window: in an operator's time zone, over midnight, and on nights when the clocks change."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.schedule import Window, next_start, window_at

BERLIN = ZoneInfo("Europe/Berlin")


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "until", "now", "window"),
    [
        # an ordinary night
        ((2, 30), (6, 0), utc(2026, 6, 2, 1, 0), Window(utc(2026, 6, 2, 0, 30), utc(2026, 6, 2, 4, 0))),
        # over midnight, before it and behind it
        ((22, 0), (6, 0), utc(2026, 6, 2, 21, 0), Window(utc(2026, 6, 2, 20, 0), utc(2026, 6, 3, 4, 0))),
        ((22, 0), (6, 0), utc(2026, 6, 3, 3, 59), Window(utc(2026, 6, 2, 20, 0), utc(2026, 6, 3, 4, 0))),
        # forward: 02:30 is skipped, the night is an hour shorter, and ends when people come
        ((2, 30), (6, 0), utc(2026, 3, 29, 2, 0), Window(utc(2026, 3, 29, 1, 30), utc(2026, 3, 29, 4, 0))),
        ((22, 0), (6, 0), utc(2026, 3, 29, 2, 0), Window(utc(2026, 3, 28, 21, 0), utc(2026, 3, 29, 4, 0))),
        # forward, with an end that would come before the start: as long as on other nights
        ((2, 30), (3, 0), utc(2026, 3, 29, 1, 45), Window(utc(2026, 3, 29, 1, 30), utc(2026, 3, 29, 2, 0))),
        # back: 02:30 comes twice, the first counts; the night is an hour longer
        ((2, 30), (6, 0), utc(2026, 10, 25, 1, 0), Window(utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 5, 0))),
        ((22, 0), (6, 0), utc(2026, 10, 25, 1, 0), Window(utc(2026, 10, 24, 20, 0), utc(2026, 10, 25, 5, 0))),
        # from one time to the same: a whole day
        ((2, 30), (2, 30), utc(2026, 6, 2, 12, 0), Window(utc(2026, 6, 2, 0, 30), utc(2026, 6, 3, 0, 30))),
    ],
)
def test_the_window_that_a_moment_lies_in(at, until, now, window):
    assert window_at(now, time(*at), time(*until), BERLIN) == window
    assert window_at(window.start, time(*at), time(*until), BERLIN) == window


@pytest.mark.parametrize(
    "now", [utc(2026, 6, 2, 0, 29), utc(2026, 6, 2, 4, 0), utc(2026, 6, 2, 12, 0), utc(2026, 3, 29, 4, 0)]
)
def test_outside_of_it_there_is_none(now):
    assert window_at(now, time(2, 30), time(6, 0), BERLIN) is None


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "UTC"])
@given(at=st.integers(0, 1439), until=st.integers(0, 1439), day=st.integers(0, 364))
def test_every_start_of_the_year_begins_a_window_that_ends_within_about_a_day(zone, at, until, day):
    at, until, zone = time(*divmod(at, 60)), time(*divmod(until, 60)), ZoneInfo(zone)
    start = next_start(utc(2026, 1, 1) + timedelta(days=day), at, zone)
    window = window_at(start, at, until, zone)
    assert window is not None
    assert window.start == start < window.end <= start + timedelta(hours=25)
    last = window_at(window.end - timedelta(microseconds=1), at, until, zone)
    assert last is not None
    assert last.end >= window.end
