"""Runs: one open at a time, shared by workers, and reports that count each document once."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta

import pytest
from catalog_rig import TENANT, Clock, Library

from app.core.catalog import Asked, Catalog, RunKind, RunState


@pytest.fixture
def ids(library: Library) -> list[str]:
    documents = [library.add(f"{number}.md") for number in range(3)]
    for document in documents:
        library.publish(document, document.name)
    return sorted(document.id for document in documents)


def test_documents_are_taken_in_order_and_not_while_somebody_holds_them_or_they_must_wait(
    catalog: Catalog, clock: Clock, ids: list[str]
):
    run = catalog.start_run(TENANT, RunKind.NIGHTLY, [ids[2], ids[0], ids[1]], None)
    assert run is not None
    assert catalog.next_of_run(run.id) == (ids[2], False)
    catalog.begin_of_run(run.id, ids[2])
    assert catalog.next_of_run(run.id) == (ids[2], True)
    assert catalog.claim(ids[2], "worker", 60)
    assert catalog.next_of_run(run.id) == (ids[0], False)
    assert catalog.begin_attempt(ids[0], "preread", lambda _: 3600)
    assert catalog.next_of_run(run.id) == (ids[1], False)
    assert catalog.claim(ids[1], "worker", 60)
    assert catalog.next_of_run(run.id) is None
    clock.advance(61)
    assert catalog.next_of_run(run.id) == (ids[2], True), "whoever held it is gone"
    assert catalog.left_of_run(run.id) == [ids[2], ids[0], ids[1]]


def test_a_document_that_two_finish_is_counted_once(catalog: Catalog, ids: list[str]):
    run = catalog.start_run(TENANT, RunKind.MANUAL, ids, None)
    assert run is not None
    catalog.add_to_run(run.id, ids[0], None, 100, 1000, 2.0)
    catalog.add_to_run(run.id, ids[0], "done", 50, 500, 1.0)
    catalog.add_to_run(run.id, ids[0], "done", 0, 0, 0)
    catalog.add_to_run(run.id, ids[1], "skipped", 0, 0, 0)
    now = catalog.open_run(TENANT)
    assert now is not None
    assert (now.planned, now.done, now.skipped, now.failed, now.left) == (3, 1, 1, 0, 1)
    assert (now.tokens, now.bytes, now.tokens_per_second) == (150, 1500, 50.0)
    catalog.end_run(run.id, RunState.DONE)
    catalog.end_run(run.id, RunState.STOPPED, "too late")
    (ended,) = catalog.runs(TENANT)
    assert (ended.state, ended.reason, ended.left) == (RunState.DONE, "", 1)
    assert catalog.left_of_run(run.id) == []
    assert catalog.open_run(TENANT) is None


def test_one_run_is_open_at_a_time_and_one_by_hand_takes_the_place_of_any(
    catalog: Catalog, clock: Clock, ids: list[str]
):
    night = catalog.start_run(TENANT, RunKind.NIGHTLY, ids, clock() + timedelta(hours=3))
    assert night is not None
    assert catalog.start_run(TENANT, RunKind.NIGHTLY, ids, None) is None
    assert catalog.start_run("other", RunKind.NIGHTLY, [], None), "another tenant's is another"
    clock.advance(1)
    first = catalog.start_run(TENANT, RunKind.MANUAL, ids[:1], None)
    assert first is not None
    clock.advance(1)
    second = catalog.start_run(TENANT, RunKind.MANUAL, ids[2:], None)
    assert second is not None
    assert catalog.left_of_run(second.id) == [ids[2], ids[0]], "nothing that was asked for is lost"
    assert [run.state for run in catalog.runs(TENANT)] == [RunState.RUNNING, RunState.STOPPED, RunState.STOPPED]
    assert catalog.last_nightly_start(TENANT) == night.started_at
    assert catalog.run_between(TENANT, first.id) == (
        catalog.run_between(TENANT, second.id)[1], catalog.runs(TENANT)[1], catalog.runs(TENANT)[2],
    )  # fmt: skip
    assert catalog.run_between("other", first.id) is None
    assert catalog.run_count(TENANT) == 3


def test_of_processes_that_start_a_run_at_once_one_does(database_url: str, catalog: Catalog):
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as processes:
        started = list(processes.map(_start, [database_url] * 9))
    assert sum(started) == 1
    assert catalog.run_count(TENANT) == 1


def _start(url: str) -> bool:
    catalog = Catalog(url)
    run = catalog.start_run(TENANT, RunKind.NIGHTLY, [], None)
    catalog.close()
    return run is not None


def test_upkeep_is_taken_by_one_and_again_when_whoever_took_it_was_killed(catalog: Catalog, clock: Clock):
    run = catalog.start_run(TENANT, RunKind.NIGHTLY, [], None)
    assert run is not None
    assert catalog.take_tending(run.id, 60)
    assert not catalog.take_tending(run.id, 60)
    clock.advance(61)
    assert catalog.take_tending(run.id, 60)
    catalog.tended(run.id, {"verified": {"whole": 3}})
    clock.advance(61)
    assert not catalog.take_tending(run.id, 60)
    assert catalog.runs(TENANT)[0].tended == {"verified": {"whole": 3}}


def test_a_report_keeps_the_counters_of_its_start_and_end(catalog: Catalog, clock: Clock, ids: list[str]):
    catalog.record_lookups(TENANT, {"disk": (3, 30)}, {"evicted": (1, 10)}, {ids[0]: (3, 1)}, clock())
    run = catalog.start_run(TENANT, RunKind.MANUAL, ids, None)
    assert run is not None
    catalog.record_lookups(TENANT, {"disk": (1, 10)}, {}, {ids[1]: (1, 0)}, clock())
    catalog.end_run(run.id, RunState.DONE)
    (ended,) = catalog.runs(TENANT)
    assert (ended.hits_at_start, ended.lookups_at_start) == (3, 4)
    assert (ended.hits_at_end, ended.lookups_at_end) == (4, 5) == catalog.lookup_counters(TENANT)
    assert catalog.asked_documents(TENANT) == [Asked(ids[0], 3, 1), Asked(ids[1], 1, 0), Asked(ids[2], 0, 0)]


def test_a_deleted_document_is_no_longer_left(catalog: Catalog, ids: list[str]):
    run = catalog.start_run(TENANT, RunKind.MANUAL, ids, None)
    assert run is not None
    catalog.begin_delete(TENANT, ids[0])
    catalog.finish_delete(ids[0])
    assert catalog.left_of_run(run.id) == ids[1:]
