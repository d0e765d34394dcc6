"""How soon answers began: counted with the lookups, exact whoever counts, merged without a change."""

from datetime import UTC, datetime, timedelta

import pytest
from catalog_rig import TENANT

from app.core.catalog import BOUNDS_MS, Catalog, FirstToken

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def record(catalog: Catalog, outcome: str, seconds: float, now: datetime = NOON, tenant: str = TENANT) -> None:
    catalog.record_lookups(tenant, {"disk": (1, 10)}, {}, {}, now, first=FirstToken(outcome, seconds))


def test_answers_are_counted_by_outcome_and_bound(catalog: Catalog) -> None:
    for seconds in (0.01, 0.05, 0.0501, 0.3, 9999.0):
        record(catalog, "hit", seconds)
    record(catalog, "miss", 2.0, NOON + timedelta(hours=1))
    record(catalog, "miss", 1.0, tenant="other")
    found = catalog.first_tokens(TENANT)
    assert found.keys() == {"hit", "miss"}
    assert found["hit"].within_ms == {50: 2, 100: 1, 400: 1}
    assert found["hit"].above == 1
    assert found["hit"].seconds == pytest.approx(9999.4101)
    assert found["miss"].within_ms == {3_200: 1}
    assert catalog.first_tokens("third") == {}


def test_a_lookup_without_a_first_token_counts_none(catalog: Catalog) -> None:
    catalog.record_lookups(TENANT, {"disk": (1, 10)}, {}, {}, NOON)
    assert catalog.first_tokens(TENANT) == {}


def test_merging_old_counts_changes_no_sum(catalog: Catalog) -> None:
    for minutes in range(0, 50, 5):
        record(catalog, "hit", 0.2, NOON + timedelta(minutes=minutes))
        record(catalog, "partial", 0.7, NOON + timedelta(minutes=minutes))
    before = catalog.first_tokens(TENANT)
    assert catalog.coarsen_rollups(NOON + timedelta(days=2), timedelta(hours=1)) == 9 * 3
    assert catalog.first_tokens(TENANT) == before


def test_bounds_ascend() -> None:
    assert list(BOUNDS_MS) == sorted(set(BOUNDS_MS))
