"""Jobs as people see them: running, waiting, dead; retried and purged."""

import pytest
from catalog_rig import TENANT, Clock, Library, wanted

from app.core.catalog import (
    Catalog,
    DocumentNotFound,
    DocumentState,
    InvalidTransition,
    JobState,
    JobTally,
    RunKind,
)


def fail(catalog: Catalog, document_id: str, code: str = "time_limit") -> None:
    assert catalog.claim(document_id, "worker", 60)
    catalog.fail(document_id, "worker", code, "It took too long.")


def test_every_document_that_is_not_settled_is_a_job_of_its_stage(catalog: Catalog, library: Library, clock: Clock):
    received, running, indexed, dead, preread, deleting = (library.add(f"{name}.md") for name in "abcdef")
    assert catalog.claim(running.id, "worker", 60)
    for document in (indexed, preread):
        library.publish(document, document.name)
    library.preread(preread, wanted(preread.name))
    assert catalog.claim(preread.id, "worker", 60)
    catalog.advance(preread.id, "worker", DocumentState.PREREAD)
    catalog.release(preread.id, "worker")
    catalog.begin_attempt(dead.id, "ingest", lambda _: 0)
    clock.advance(1)
    fail(catalog, dead.id)
    catalog.begin_delete(TENANT, deleting.id)
    library.add("elsewhere.md", tenant="other")

    page = catalog.jobs(TENANT)
    assert [(job.document_id, job.task, job.state) for job in page.items] == [
        (running.id, "ingest", JobState.RUNNING),
        *sorted(
            [
                (received.id, "ingest", JobState.WAITING),
                (indexed.id, "preread", JobState.WAITING),
            ],
            key=lambda job: job[0],
        ),
        (deleting.id, "delete", JobState.WAITING),
        (dead.id, "ingest", JobState.DEAD),
    ]
    assert page.total == 5
    assert catalog.job_counts(TENANT) == {JobState.RUNNING: 1, JobState.WAITING: 3, JobState.DEAD: 1}
    letter = page.items[-1]
    assert letter.id == f"ingest-{dead.id}"
    assert (letter.document_name, letter.attempts) == ("d.md", 1)
    assert (letter.reason_code, letter.reason) == ("time_limit", "It took too long.")
    assert letter.first_at < letter.last_at == clock()


def test_pages_of_jobs_do_not_overlap_and_can_be_of_one_state(catalog: Catalog, library: Library):
    documents = [library.add(f"{number}.md") for number in range(7)]
    for document in documents[:3]:
        fail(catalog, document.id)
    seen = [job.id for offset in range(0, 7, 2) for job in catalog.jobs(TENANT, None, 2, offset).items]
    assert len(set(seen)) == len(seen) == 7
    dead = catalog.jobs(TENANT, JobState.DEAD)
    assert (dead.total, {job.document_id for job in dead.items}) == (3, {each.id for each in documents[:3]})


def test_a_purged_letter_is_off_the_list_until_the_document_fails_again(catalog: Catalog, library: Library):
    document = library.add("a.md")
    fail(catalog, document.id)
    catalog.purge_job(TENANT, document.id)
    assert catalog.jobs(TENANT).total == 0
    assert catalog.job_of(TENANT, document.id) is None
    assert catalog.get_document(TENANT, document.id).state is DocumentState.FAILED
    catalog.retry(document.id)
    assert catalog.jobs(TENANT).items[0].state is JobState.WAITING
    fail(catalog, document.id)
    assert catalog.jobs(TENANT).items[0].state is JobState.DEAD


def test_a_letter_of_a_published_document_is_of_its_pre_reading(catalog: Catalog, library: Library):
    document = library.add("a.md")
    library.publish(document, "One.")
    fail(catalog, document.id, "preread_failed")
    assert catalog.jobs(TENANT).items[0].id == f"preread-{document.id}"


def test_only_what_is_dead_can_be_purged_and_only_by_its_tenant(catalog: Catalog, library: Library):
    document = library.add("a.md")
    with pytest.raises(InvalidTransition):
        catalog.purge_job(TENANT, document.id)
    fail(catalog, document.id)
    for tenant, document_id in (("other", document.id), (TENANT, "doc_none")):
        with pytest.raises(DocumentNotFound):
            catalog.purge_job(tenant, document_id)
    assert catalog.job_of("other", document.id) is None
    assert catalog.job_of(TENANT, document.id) is not None


def test_tallies_are_those_of_the_list_and_tell_how_long_the_oldest_waits(
    catalog: Catalog, library: Library, clock: Clock
):
    began = clock()
    received, late, running, indexed, dead, purged, read_dead, deleting = (library.add(f"{n}.md") for n in "abcdefgh")
    assert catalog.begin_attempt(received.id, "ingest", lambda _: 0)
    for document in (indexed, read_dead):
        library.publish(document, document.name)
    clock.advance(100)
    library.add(late.name, "new bytes")
    catalog.attempt_failed(received.id, "engine_failed", "It broke off.")
    assert catalog.claim(running.id, "worker", 600)
    for document in (dead, purged, read_dead):
        fail(catalog, document.id)
    catalog.purge_job(TENANT, purged.id)
    catalog.begin_delete(TENANT, deleting.id)
    library.add("elsewhere.md", tenant="other")
    clock.advance(50)

    tallies = {(each.task, each.state): each for each in catalog.job_tallies(TENANT)}
    listed = catalog.jobs(TENANT).items
    assert {key: tally.jobs for key, tally in tallies.items()} == {
        key: sum((job.task, job.state) == key for job in listed) for key in {(job.task, job.state) for job in listed}
    }
    assert tallies["ingest", JobState.WAITING].jobs == 2
    assert {key: (clock() - tally.oldest_at).total_seconds() for key, tally in tallies.items() if tally.oldest_at} == {
        ("ingest", JobState.WAITING): (clock() - began).total_seconds(),
        ("preread", JobState.WAITING): (clock() - began).total_seconds(),
        ("delete", JobState.WAITING): 50,
    }


def test_what_is_left_to_the_night_waits_and_is_not_late(catalog: Catalog, library: Library):
    document = library.add("a.md")
    library.publish(document, "One.")
    assert catalog.claim(document.id, "worker", 60)
    catalog.advance(document.id, "worker", DocumentState.PREREAD)
    catalog.release(document.id, "worker")
    run = catalog.start_run(TENANT, RunKind.NIGHTLY, [document.id], None)
    assert run is not None
    catalog.begin_of_run(run.id, document.id)
    assert catalog.job_tallies(TENANT) == [JobTally("preread", JobState.WAITING, 1, None)]
