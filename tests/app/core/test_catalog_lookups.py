"""Counters: exact, and still there after a restart."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

from catalog_rig import TENANT, Clock, Library
from hypothesis import given
from hypothesis import strategies as st

from app.core.catalog import Catalog, LookupCount, LookupTotals
from app.core.catalog.buckets import bucket_start


def test_lookups_add_up_and_survive_a_reopening(database_url: str, catalog: Catalog, clock: Clock) -> None:
    catalog.record_lookups(TENANT, {"memory": (2, 900), "disk": (1, 512)}, {"evicted": (1, 100)}, {}, clock.now)
    catalog.record_lookups(TENANT, {"disk": (3, 1000)}, {"corrupt": (1, 1), "evicted": (0, 0)}, {}, clock.now)
    clock.advance(3600)
    catalog.record_lookups(TENANT, {"disk": (1, 2**40)}, {}, {}, clock.now)
    catalog.record_lookups("other", {"disk": (9, 9)}, {}, {}, clock.now)
    catalog.close()

    reopened = Catalog(database_url)
    totals = reopened.lookup_totals(TENANT)
    reopened.close()
    assert totals == LookupTotals(
        hits=(LookupCount("disk", 5, 1512 + 2**40), LookupCount("memory", 2, 900)),
        misses=(LookupCount("corrupt", 1, 1), LookupCount("evicted", 1, 100)),
    )
    assert (totals.lookups, totals.hit_chunks, totals.miss_chunks) == (9, 7, 2)
    assert totals.tokens_reused == 2412 + 2**40
    assert totals.hit_rate == 7 / 9
    assert totals.token_hit_rate == (2412 + 2**40) / (2513 + 2**40)


def test_without_lookups_there_is_no_rate(catalog: Catalog) -> None:
    totals = catalog.lookup_totals(TENANT)
    assert totals == LookupTotals((), ())
    assert (totals.lookups, totals.hit_rate, totals.token_hit_rate) == (0, None, None)


def test_totals_since_a_moment_start_with_its_bucket(catalog: Catalog, clock: Clock) -> None:
    for _ in range(4):
        catalog.record_lookups(TENANT, {"disk": (1, 10)}, {}, {}, clock.now)
        clock.advance(300)
    assert catalog.lookup_totals(TENANT, clock.now - timedelta(seconds=600)).lookups == 2
    assert catalog.lookup_totals(TENANT, clock.now - timedelta(seconds=601)).lookups == 3
    berlin = timezone(timedelta(hours=2))
    assert catalog.lookup_totals(TENANT, (clock.now - timedelta(seconds=600)).astimezone(berlin)).lookups == 2
    assert catalog.lookup_totals(TENANT, clock.now).lookups == 0


def test_lookups_counted_at_once_are_all_counted(database_url: str, catalog: Catalog, library: Library) -> None:
    documents = [library.add(f"{n}.md").id for n in range(4)]
    now = datetime(2026, 3, 1, 12, 1, tzinfo=UTC)

    def count(worker: int) -> None:
        order = documents if worker % 2 else documents[::-1]
        for _ in range(25):
            hits, misses = {"disk": (1, 10), "memory": (2, 20)}, {"evicted": (1, 5), "corrupt": (1, 6)}
            per_document = dict.fromkeys(order, (2, 1))
            if worker % 2:
                hits, misses = dict(reversed(hits.items())), dict(reversed(misses.items()))
            catalog.record_lookups(TENANT, hits, misses, per_document, now)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, range(4)))
    assert catalog.lookup_totals(TENANT) == LookupTotals(
        hits=(LookupCount("disk", 100, 1000), LookupCount("memory", 200, 2000)),
        misses=(LookupCount("corrupt", 100, 600), LookupCount("evicted", 100, 500)),
    )
    table = catalog.document_table(TENANT)
    assert [(row.hits, row.misses) for row in table.rows] == [(200, 100)] * 4


def test_lookups_of_a_deleted_document_count_in_the_totals_alone(
    catalog: Catalog, library: Library, clock: Clock
) -> None:
    gone, kept = library.add("gone.md"), library.add("kept.md")
    foreign = library.add("foreign.md", tenant="other")
    catalog.begin_delete(TENANT, gone.id)
    catalog.finish_delete(gone.id)
    per_document = {gone.id: (1, 0), kept.id: (1, 0), foreign.id: (1, 0)}
    catalog.record_lookups(TENANT, {"disk": (3, 30)}, {}, per_document, clock.now)
    assert catalog.lookup_totals(TENANT).lookups == 3
    assert catalog.document_row(TENANT, kept.id).hits == 1
    assert catalog.document_row("other", foreign.id).hits == 0


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_bucket_holds_its_moment_and_starts_on_a_five_minute_mark(moment: datetime) -> None:
    start = bucket_start(moment)
    assert start <= moment < start + timedelta(minutes=5)
    assert (start.minute % 5, start.second, start.microsecond) == (0, 0, 0)
