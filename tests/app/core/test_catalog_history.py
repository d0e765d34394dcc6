"""Old history is deleted, and nothing that somebody still goes by."""

from datetime import timedelta

from catalog_rig import TENANT, Clock, Library, wanted

from app.core.catalog import Catalog, DocumentState, JobState, RunKind, RunState

DAY = 24 * 3600


def ended_run(catalog: Catalog, clock: Clock, kind: RunKind, tenant: str = TENANT) -> str:
    run = catalog.start_run(tenant, kind, [], None)
    assert run is not None
    clock.advance(60)
    catalog.end_run(run.id, RunState.DONE)
    clock.advance(DAY)
    return run.id


def test_ended_runs_go_and_each_tenants_last_of_each_kind_stays(catalog: Catalog, clock: Clock):
    ended_run(catalog, clock, RunKind.NIGHTLY)
    ended_run(catalog, clock, RunKind.MANUAL)
    night, hand = (ended_run(catalog, clock, kind) for kind in (RunKind.NIGHTLY, RunKind.MANUAL))
    others = ended_run(catalog, clock, RunKind.NIGHTLY, "other")
    last = catalog.last_nightly_start(TENANT)
    assert catalog.forget_history(clock() - timedelta(days=90))["runs"] == 0, "none is so old"
    clock.advance(100 * DAY)
    assert catalog.forget_history(clock() - timedelta(days=90))["runs"] == 2
    assert [run.id for run in catalog.runs(TENANT)] == [hand, night]
    assert [run.id for run in catalog.runs("other")] == [others]
    assert catalog.last_nightly_start(TENANT) == last, "or there would be a second run in one night"


def test_an_open_run_stays_however_old_and_so_does_the_last_that_ended(
    catalog: Catalog, library: Library, clock: Clock
):
    document = library.add("travel.md")
    library.publish(document, "One.")
    before = ended_run(catalog, clock, RunKind.NIGHTLY)
    run = catalog.start_run(TENANT, RunKind.NIGHTLY, [document.id], None)
    assert run is not None
    clock.advance(1000 * DAY)
    assert catalog.forget_history(clock())["runs"] == 0
    assert catalog.left_of_run(run.id) == [document.id]
    assert [each.id for each in catalog.runs(TENANT)] == [run.id, before]


def test_a_run_that_ended_yesterday_stays_though_it_began_long_ago(catalog: Catalog, clock: Clock):
    long = catalog.start_run(TENANT, RunKind.MANUAL, [], None)
    assert long is not None
    clock.advance(100 * DAY)
    catalog.end_run(long.id, RunState.DONE)
    clock.advance(1)
    ended_run(catalog, clock, RunKind.MANUAL)
    assert catalog.forget_history(clock() - timedelta(days=90))["runs"] == 0


def test_tries_of_what_is_settled_or_begun_anew_go_and_those_of_now_stay(
    catalog: Catalog, library: Library, clock: Clock
):
    settled, anew, waiting, dead, purged = (library.add(f"{name}.md") for name in "abcde")
    for document in (settled, anew, waiting, dead, purged):
        if document is settled:
            library.publish(document, "One.")
        assert catalog.begin_attempt(document.id, "preread" if document is settled else "ingest", lambda _: 0)
    library.preread(settled, wanted("One."))
    assert catalog.claim(settled.id, "worker", 60)
    catalog.advance(settled.id, "worker", DocumentState.PREREAD)
    catalog.release(settled.id, "worker")
    library.add(anew.name, "other bytes")
    for document in (dead, purged):
        assert catalog.claim(document.id, "worker", 60)
        catalog.fail(document.id, "worker", "time_limit", "It took too long.")
    catalog.purge_job(TENANT, purged.id)
    assert catalog.forget_history(clock() - timedelta(days=1))["attempts"] == 0, "none is so old"
    clock.advance(2 * DAY)
    assert catalog.forget_history(clock() - timedelta(days=1))["attempts"] == 2
    attempts = {job.document_id: job.attempts for job in catalog.jobs(TENANT).items}
    assert attempts == {waiting.id: 1, dead.id: 1, anew.id: 0}, "and the purged letter is not back"
    assert catalog.job_counts(TENANT)[JobState.DEAD] == 1


def test_counts_of_messages_go_when_none_was_dropped_for_so_long(catalog: Catalog, clock: Clock):
    catalog.count_dropped("unreadable", "{")
    clock.advance(DAY)
    catalog.count_dropped("unknown_task", "polish")
    assert catalog.forget_history(clock() - timedelta(hours=1))["dropped_messages"] == 1
    assert catalog.dropped_messages() == {"unknown_task": 1}
