"""What chunk KV saved: counted with the lookups, exact whoever counts, and never less."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from catalog_rig import TENANT, Clock
from sqlalchemy import create_engine, text

from app.core.catalog import Catalog, LookupCount, Reuse, Saving

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ANSWER = Reuse(
    reused_tokens=1000,
    fresh_tokens=180,
    load_seconds=0.25,
    loaded_bytes=4000,
    loaded_bytes_in_16_bits=22_000,
    timed_tokens=200,
    timed_seconds=0.4,
)
ROUNDS = 20


def record(catalog: Catalog, reuse: Reuse, now: datetime = NOON, tenant: str = TENANT) -> None:
    catalog.record_lookups(tenant, {"disk": (2, 1000)}, {"evicted": (1, 180)}, {}, now, reuse)


def test_answers_add_up_and_survive_a_reopening(database_url: str, catalog: Catalog) -> None:
    record(catalog, ANSWER)
    record(catalog, ANSWER, NOON + timedelta(minutes=1))
    record(catalog, ANSWER, NOON + timedelta(hours=1))
    record(catalog, replace(ANSWER, reused_tokens=9), tenant="other")
    catalog.close()
    reopened = Catalog(database_url)
    assert reopened.saving_totals(TENANT) == Saving(3000, 540, 6.0, 0.75, 12_000, 66_000)
    assert reopened.saving_totals("other").reused_tokens == 9
    assert reopened.saving_totals("third") == Saving()
    reopened.close()


def test_a_reused_token_saves_what_a_computed_one_took_on_the_last_day_that_any_was_timed(catalog: Catalog) -> None:
    unmeasured = replace(ANSWER, timed_tokens=0, timed_seconds=0.0)

    def saved_by(reuse: Reuse, now: datetime, tenant: str = TENANT) -> float:
        before = catalog.saving_totals(tenant).saved_seconds
        record(catalog, reuse, now, tenant)
        return catalog.saving_totals(tenant).saved_seconds - before

    assert saved_by(unmeasured, NOON) == 0, "nothing was measured yet, so nothing is claimed"
    assert saved_by(ANSWER, NOON) == pytest.approx(2.0)
    assert saved_by(unmeasured, NOON + timedelta(hours=23)) == pytest.approx(2.0)
    slower = replace(ANSWER, timed_tokens=200, timed_seconds=1.2)
    assert saved_by(slower, NOON + timedelta(hours=23)) == pytest.approx(4.0)
    saved_by(slower, NOON + timedelta(hours=47))
    assert saved_by(unmeasured, NOON + timedelta(hours=48)) == pytest.approx(6.0), "only the last one is left"
    assert saved_by(unmeasured, NOON + timedelta(days=300)) == pytest.approx(6.0), "and goes on to count"
    assert saved_by(unmeasured, NOON, "other") == 0, "another tenant's measure is not looked at"


def test_what_pre_reading_took_is_a_measure_too(catalog: Catalog, clock: Clock) -> None:
    catalog.tokens_computed(TENANT, 400, 1.0)
    assert catalog.saving_totals(TENANT) == Saving(), "it saves nothing by itself"
    record(catalog, replace(ANSWER, timed_tokens=0, timed_seconds=0.0), clock())
    assert catalog.saving_totals(TENANT).saved_seconds == pytest.approx(2.5)
    catalog.tokens_computed(TENANT, 400, 2.0)
    record(catalog, replace(ANSWER, timed_tokens=0, timed_seconds=0.0), clock())
    assert catalog.saving_totals(TENANT).saved_seconds == pytest.approx(2.5 + 3.75)


def test_what_cannot_be_counted_whole_is_not_counted_at_all(database_url: str, catalog: Catalog) -> None:
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE savings RENAME TO elsewhere"))
    with pytest.raises(Exception, match="savings"):
        record(catalog, ANSWER)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE elsewhere RENAME TO savings"))
    engine.dispose()
    assert catalog.lookup_totals(TENANT).lookups == 0
    record(catalog, ANSWER)
    assert catalog.lookup_totals(TENANT).lookups == 3


def test_processes_that_count_at_once_lose_nothing_and_no_total_ever_goes_back(
    database_url: str, catalog: Catalog
) -> None:
    seen = [_totals(catalog)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        counting = [processes.submit(_count, database_url, tenant) for tenant in (TENANT, TENANT, "other")]
        while not all(each.done() for each in counting):
            seen.append(_totals(catalog))
        for each in counting:
            each.result()
    restarted = Catalog(database_url)
    seen.append(_totals(restarted))
    assert len(seen) > 2
    for before, after in pairwise(seen):
        assert all(x <= y for x, y in zip(before, after, strict=True))
    seconds = [pytest.approx(2 * ROUNDS * each) for each in (2.0, 0.25)]
    assert seen[-1] == (4 * ROUNDS, 2 * ROUNDS * 1000, *seconds)
    assert restarted.lookup_totals("other").hits == (LookupCount("disk", 2 * ROUNDS, 1000 * ROUNDS),)
    restarted.close()


def test_a_clock_that_goes_back_takes_nothing_away(catalog: Catalog, clock: Clock) -> None:
    record(catalog, ANSWER, NOON)
    before = _totals(catalog)
    record(catalog, ANSWER, NOON - timedelta(days=2))
    assert all(x < y for x, y in zip(before, _totals(catalog), strict=True))


def _totals(catalog: Catalog) -> tuple[float, ...]:
    lookups, saving = catalog.lookup_totals(TENANT), catalog.saving_totals(TENANT)
    return lookups.hit_chunks, saving.reused_tokens, saving.saved_seconds, saving.load_seconds


def _count(database_url: str, tenant: str) -> None:
    catalog = Catalog(database_url)
    for minute in range(ROUNDS):
        record(catalog, ANSWER, NOON + timedelta(minutes=minute), tenant)
    catalog.close()
