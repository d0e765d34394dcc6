"""Tries of documents' stages: counted before they begin, with a pause, ended by whatever starts the work anew."""

from catalog_rig import TENANT, Clock, Library

from app.core.catalog import Attempt, Catalog, DocumentState, JobState, RunKind


def pause(attempts: int) -> float:
    return 10.0 * attempts


def test_a_try_is_counted_when_it_begins_and_the_next_has_its_pause(catalog: Catalog, library: Library, clock: Clock):
    document = library.add("travel.md")
    begun = catalog.begin_attempt(document.id, "ingest", pause)
    assert begun is not None
    assert (begun.number, begun.reason_code) == (1, "worker_lost")
    assert catalog.begin_attempt(document.id, "ingest", pause) is None, "its pause is not over"
    assert catalog.waiting_for_their_time(clock()) == {document.id}
    clock.advance(10)
    assert catalog.waiting_for_their_time(clock()) == set()
    catalog.attempt_failed(document.id, "engine_failed", "It broke off.\0")
    second = catalog.begin_attempt(document.id, "ingest", pause)
    assert second == Attempt(2, "engine_failed", "It broke off.\N{REPLACEMENT CHARACTER}")
    clock.advance(19)
    assert catalog.begin_attempt(document.id, "ingest", pause) is None


def test_what_waits_for_something_else_is_not_counted_and_has_no_pause(catalog: Catalog, library: Library):
    document = library.add("travel.md")
    for _ in range(20):
        begun = catalog.begin_attempt(document.id, "ingest", pause)
        assert begun is not None
        assert begun.number == 1
        catalog.attempt_waits(document.id, "index_unavailable", "The index does not answer.")


def test_nothing_is_tried_that_a_worker_holds_or_that_is_at_another_stage(
    catalog: Catalog, library: Library, clock: Clock
):
    document = library.add("travel.md")
    assert catalog.begin_attempt(document.id, "preread", pause) is None
    assert catalog.claim(document.id, "other", 60)
    assert catalog.begin_attempt(document.id, "ingest", pause) is None
    clock.advance(61)
    assert catalog.begin_attempt(document.id, "ingest", pause)
    library.publish(document, "One.")
    assert catalog.begin_attempt(document.id, "ingest", pause) is None
    begun = catalog.begin_attempt(document.id, "preread", pause)
    assert begun is not None
    assert begun.number == 1, "each stage counts its own"
    assert catalog.begin_attempt("doc_none", "ingest", pause) is None


def test_new_bytes_and_a_retry_begin_to_count_anew(catalog: Catalog, library: Library):
    document = library.add("travel.md")
    assert catalog.begin_attempt(document.id, "ingest", pause)
    library.add("travel.md", "other bytes")
    begun = catalog.begin_attempt(document.id, "ingest", pause)
    assert begun is not None
    assert begun.number == 1
    assert catalog.claim(document.id, "worker", 60)
    catalog.fail(document.id, "worker", "time_limit", "It took too long.")
    assert catalog.begin_attempt(document.id, "ingest", pause) is None
    catalog.retry(document.id)
    begun = catalog.begin_attempt(document.id, "ingest", pause)
    assert begun is not None
    assert begun.number == 1


def test_a_try_that_went_well_leaves_nothing_unless_the_document_failed_or_another_is_at_it(
    catalog: Catalog, library: Library
):
    document = library.add("travel.md")
    catalog.begin_attempt(document.id, "ingest", pause)
    assert catalog.claim(document.id, "other", 60)
    catalog.end_attempt(document.id)
    assert _job(catalog, document.id).attempts == 1
    catalog.release(document.id, "other")
    catalog.end_attempt(document.id)
    assert _job(catalog, document.id).attempts == 0
    catalog.begin_attempt(document.id, "ingest", pause)
    assert catalog.claim(document.id, "worker", 60)
    catalog.fail(document.id, "worker", "empty_document", "There is nothing in it.")
    catalog.end_attempt(document.id)
    assert _job(catalog, document.id).attempts == 1
    catalog.end_attempt("doc_none")


def test_what_a_nightly_run_put_back_is_left_to_nights_until_somebody_asks_for_it(
    catalog: Catalog, library: Library, clock: Clock
):
    document = library.add("travel.md")
    library.publish(document, "One.")
    assert catalog.claim(document.id, "worker", 60)
    catalog.advance(document.id, "worker", DocumentState.PREREAD)
    catalog.release(document.id, "worker")
    run = catalog.start_run(TENANT, RunKind.NIGHTLY, [document.id], None)
    assert run is not None
    catalog.begin_of_run(run.id, document.id)
    assert catalog.get_document(TENANT, document.id).state is DocumentState.INDEXED
    assert catalog.begin_attempt(document.id, "preread", pause)
    catalog.end_attempt(document.id)
    assert catalog.waiting_for_their_time(clock()) == {document.id}, "also after a slice that was not the last"
    assert catalog.is_night_only(document.id)
    catalog.make_due([document.id])
    assert catalog.waiting_for_their_time(clock()) == set()
    assert not catalog.is_night_only(document.id)


def test_a_deleted_documents_tries_go_with_it(catalog: Catalog, library: Library):
    document = library.add("travel.md")
    catalog.begin_attempt(document.id, "ingest", pause)
    catalog.begin_delete(TENANT, document.id)
    catalog.finish_delete(document.id)
    assert catalog.jobs(TENANT).total == 0


def test_dropped_messages_are_counted_by_reason(catalog: Catalog):
    for text in ("{", "x\0" * 1000, "["):
        catalog.count_dropped("unreadable", text)
    catalog.count_dropped("unknown_task", "mine_bitcoin")
    assert catalog.dropped_messages() == {"unreadable": 3, "unknown_task": 1}


def _job(catalog: Catalog, document_id: str):
    job = catalog.job_of(TENANT, document_id)
    assert job is not None
    assert job.state in JobState
    return job
