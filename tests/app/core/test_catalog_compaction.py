"""Old counts become coarser, and no total changes, whoever counts meanwhile."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta

from catalog_rig import TENANT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from app.core.catalog import Catalog, LookupTotals, Reuse, Saving

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ANSWER = Reuse(reused_tokens=90, fresh_tokens=10, load_seconds=0.25, loaded_bytes=7, timed_tokens=10, timed_seconds=0.5)


def record(catalog: Catalog, moment: datetime, tenant: str = TENANT) -> None:
    catalog.record_lookups(tenant, {"disk": (2, 20)}, {"evicted": (1, 10)}, {}, moment, ANSWER)


def totals(catalog: Catalog, tenant: str = TENANT) -> tuple[LookupTotals, Saving]:
    return catalog.lookup_totals(tenant), catalog.saving_totals(tenant)


def rows(database_url: str, table: str) -> int:
    engine = create_engine(database_url)
    with engine.connect() as connection:
        count = connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
    engine.dispose()
    return int(count)


def test_five_minute_rows_become_hourly_and_then_daily_ones_and_every_total_stays(database_url: str, catalog: Catalog):
    for minutes in range(0, 48 * 60, 5):
        record(catalog, NOON - timedelta(minutes=minutes))
    record(catalog, NOON - DAY, "other")
    before, others = totals(catalog), totals(catalog, "other")
    assert rows(database_url, "savings") == 48 * 12 + 1
    assert catalog.coarsen_rollups(NOON, HOUR) > 0
    assert totals(catalog) == before
    assert rows(database_url, "savings") == 48 + 1 + 1, "48 whole hours, the one that is not over, the other tenant's"
    assert rows(database_url, "rollups") == 2 * rows(database_url, "savings")
    assert catalog.coarsen_rollups(NOON, HOUR) == 0, "there is nothing left to merge"
    assert catalog.coarsen_rollups(NOON, DAY) > 0
    assert totals(catalog) == before
    assert totals(catalog, "other") == others


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ages=st.lists(st.integers(0, 3 * 24 * 60), min_size=1, max_size=12), cutoff=st.integers(0, 3 * 24 * 60))
def test_whatever_is_counted_and_wherever_the_cut_is_no_total_changes(catalog: Catalog, ages: list[int], cutoff: int):
    for minutes in ages:
        record(catalog, NOON - timedelta(minutes=minutes))
    before = totals(catalog)
    for size in (HOUR, DAY):
        catalog.coarsen_rollups(NOON - timedelta(minutes=cutoff), size)
        assert totals(catalog) == before


def test_who_counts_while_rows_are_merged_loses_nothing(database_url: str, catalog: Catalog):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        counting = [processes.submit(_count, database_url) for _ in range(2)]
        seen = 0
        while not all(each.done() for each in counting):
            catalog.coarsen_rollups(NOON + DAY, HOUR)
            now = catalog.lookup_totals(TENANT).lookups
            assert now >= seen, "a counter never goes back"
            seen = now
        for each in counting:
            each.result()
    assert catalog.lookup_totals(TENANT).lookups == 2 * 60 * 3


def test_a_compacted_database_has_no_log_and_all_its_rows(database_url: str, catalog: Catalog):
    for minutes in range(0, 24 * 60, 5):
        record(catalog, NOON - timedelta(minutes=minutes))
    before = totals(catalog)
    catalog.compact()
    assert totals(catalog) == before


def _count(url: str) -> None:
    catalog = Catalog(url)
    for minute in range(60):
        record(catalog, NOON + timedelta(minutes=minute % 7))
    catalog.close()
