import pickle
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.schedule import Nightly, next_start

BERLIN = ZoneInfo("Europe/Berlin")
HALF_PAST_TWO = time(2, 30)


def starts(first: datetime, count: int, zone: ZoneInfo = BERLIN, at: time = HALF_PAST_TWO) -> list[datetime]:
    found = []
    for _ in range(count):
        first = next_start(first, at, zone)
        found.append(first)
    return found


def test_the_night_on_which_a_half_past_two_is_skipped_has_one_start():
    assert starts(datetime(2026, 3, 28, 12, tzinfo=UTC), 3) == [
        datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
        datetime(2026, 3, 30, 0, 30, tzinfo=UTC),
        datetime(2026, 3, 31, 0, 30, tzinfo=UTC),
    ]


def test_the_night_on_which_half_past_two_comes_twice_has_one_start():
    assert starts(datetime(2026, 10, 24, 12, tzinfo=UTC), 2) == [
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2026, 10, 26, 1, 30, tzinfo=UTC),
    ]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "UTC"])
@given(minutes=st.integers(0, 24 * 60 - 1), day=st.integers(0, 364))
def test_every_year_has_one_start_a_date(zone, minutes, day):
    at = time(minutes // 60, minutes % 60)
    begin = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)
    found = starts(begin, 8, ZoneInfo(zone), at)
    gaps = [(after - before).total_seconds() / 3600 for before, after in pairwise(found)]
    assert all(22 <= gap <= 26 for gap in gaps)
    assert len({start.astimezone(ZoneInfo(zone)).date() for start in found}) == 8


def fixed(nightly: Nightly, now: datetime) -> Nightly:
    nightly.nowfun = lambda: now
    return nightly


def test_nightly_is_due_once_its_time_has_come():
    yesterday = datetime(2026, 6, 1, 2, 30, 1, tzinfo=UTC)
    before = fixed(Nightly("02:30", "UTC"), datetime(2026, 6, 2, 2, 29, tzinfo=UTC)).is_due(yesterday)
    after = fixed(Nightly("02:30", "UTC"), datetime(2026, 6, 2, 2, 30, tzinfo=UTC)).is_due(yesterday)
    assert (before.is_due, before.next) == (False, 60)
    assert (after.is_due, after.next) == (True, 24 * 3600)


def test_a_start_missed_while_beat_was_down_is_made_up_once():
    nightly = fixed(Nightly("02:30", "UTC"), datetime(2026, 6, 9, 9, tzinfo=UTC))
    assert nightly.is_due(datetime(2026, 6, 5, 2, 30, tzinfo=UTC)).is_due
    assert not nightly.is_due(datetime(2026, 6, 9, 8, 59, tzinfo=UTC)).is_due


def test_nightly_survives_beats_schedule_file():
    nightly = pickle.loads(pickle.dumps(Nightly("02:30", "Europe/Berlin")))
    assert nightly == Nightly("02:30", "Europe/Berlin")
    assert nightly != Nightly("03:30", "Europe/Berlin")
