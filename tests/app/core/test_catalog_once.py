"""Requests that are done once: kept answers, other requests' keys, leases that run out."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from catalog_rig import TENANT, Clock

from app.core.catalog import Catalog, IdempotencyInProgress, IdempotencyMismatch, KeptAnswer

DAY = timedelta(days=1)
ANSWER = KeptAnswer(201, {"document": {"name": "テスト 資料①.pdf"}})


def begin(catalog: Catalog, owner: str, fingerprint: str = "a", key: str = "k", tenant: str = TENANT):
    return catalog.begin_once(tenant, key, fingerprint, owner, 30, DAY)


def test_what_was_answered_is_kept(catalog: Catalog) -> None:
    assert begin(catalog, "one") is None
    catalog.end_once(TENANT, "k", "one", ANSWER)
    assert begin(catalog, "two") == ANSWER
    assert begin(catalog, "three") == ANSWER


def test_another_request_is_refused_whether_the_first_is_done_or_not(catalog: Catalog) -> None:
    begin(catalog, "one")
    with pytest.raises(IdempotencyMismatch):
        begin(catalog, "two", "b")
    catalog.end_once(TENANT, "k", "one", ANSWER)
    with pytest.raises(IdempotencyMismatch):
        begin(catalog, "two", "b")


def test_a_request_under_way_is_done_by_one(catalog: Catalog) -> None:
    def try_it(owner: str) -> str:
        try:
            return "mine" if begin(catalog, owner) is None else "kept"
        except IdempotencyInProgress as error:
            return str(error.code)

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(try_it, [f"owner-{n}" for n in range(16)]))
    assert sorted(outcomes) == ["idempotency_in_progress"] * 15 + ["mine"]


def test_one_that_was_killed_is_taken_over_after_its_lease(catalog: Catalog, clock: Clock) -> None:
    begin(catalog, "killed")
    clock.advance(29)
    with pytest.raises(IdempotencyInProgress):
        begin(catalog, "next")
    clock.advance(2)
    assert begin(catalog, "next") is None
    catalog.end_once(TENANT, "k", "killed", KeptAnswer(500, None))
    catalog.renew_once(TENANT, "k", "killed", 1000)
    clock.advance(31)
    assert begin(catalog, "third") is None
    catalog.end_once(TENANT, "k", "third", ANSWER)
    assert begin(catalog, "fourth") == ANSWER


def test_a_lease_that_is_renewed_does_not_run_out(catalog: Catalog, clock: Clock) -> None:
    begin(catalog, "slow")
    for _ in range(4):
        clock.advance(20)
        catalog.renew_once(TENANT, "k", "slow", 30)
    with pytest.raises(IdempotencyInProgress) as refusal:
        begin(catalog, "next")
    assert refusal.value.retry_after_seconds


def test_one_that_failed_frees_its_key_for_any_request(catalog: Catalog) -> None:
    begin(catalog, "one")
    catalog.end_once(TENANT, "k", "one", None)
    assert begin(catalog, "two", "b") is None


def test_keys_of_tenants_are_their_own(catalog: Catalog) -> None:
    begin(catalog, "one")
    assert begin(catalog, "two", "b", tenant="other") is None
    assert begin(catalog, "three", "b", key="l") is None


def test_a_key_is_new_again_when_its_time_is_over_and_swept(catalog: Catalog, clock: Clock) -> None:
    begin(catalog, "one")
    catalog.end_once(TENANT, "k", "one", ANSWER)
    clock.advance(DAY.total_seconds() + 1)
    assert begin(catalog, "two", "b") is None
    begin(catalog, "three", key="l")
    assert catalog.forget_once(clock() - timedelta(hours=1)) == 0
    assert catalog.forget_once(clock() + timedelta(hours=1)) == 2
    assert begin(catalog, "four", "c") is None
