"""Jobs, dropped messages and the nightly run in what Prometheus is told."""

import time
from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families
from web_harness import TENANT, admin_of

from app.core.catalog import RunKind, RunState
from app.web.metrics import exposition
from retrieval.errors import IndexUnavailable
from workers.transport import DropReason

OWN = {"tenant": "default"}


@pytest.fixture
def told(web):
    """The value of a sample at this moment; None: it is not there."""

    def value(name, **labels):
        families = text_string_to_metric_families(web.client.get("/metrics").text)
        samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples
        }
        return samples.get((name, frozenset(labels.items())))

    return value


@pytest.fixture
def document(web):
    """An upload that no worker has come to."""
    answer = web.client.post("/documents", files={"file": (f"{time.time_ns()}.md", f"# At {time.time_ns()}".encode())})
    document_id = answer.json()["document"]["id"]
    yield document_id
    web.client.delete(f"/documents/{document_id}")


def test_a_job_is_counted_in_its_state_and_the_oldest_one_told(web, told, document):
    def jobs(state):
        return told("preread_jobs", **OWN, kind="ingest", state=state)

    waiting, running, dead = (jobs(state) for state in ("waiting", "running", "dead"))
    assert waiting >= 1
    oldest = min(
        datetime.fromisoformat(job["first_at"])
        for job in web.client.get("/jobs", params={"state": "waiting", "limit": 500}).json()["items"]
        if job["task"] == "ingest"
    )
    assert told("preread_oldest_waiting_job_timestamp_seconds", **OWN, kind="ingest") == oldest.timestamp()
    assert told("preread_oldest_waiting_job_timestamp_seconds", **OWN, kind="delete") is None, "none waits"
    catalog = web.services.catalog
    assert catalog.claim(document, "worker", 60)
    assert (jobs("waiting"), jobs("running"), jobs("dead")) == (waiting - 1, running + 1, dead)
    catalog.fail(document, "worker", "time_limit", "It took too long.")
    assert (jobs("waiting"), jobs("running"), jobs("dead")) == (waiting - 1, running, dead + 1)


def test_jobs_are_those_of_the_list(web, told, document):
    counts = web.client.get("/jobs").json()["counts"]
    for state, count in counts.items():
        kinds = [told("preread_jobs", **OWN, kind=kind, state=state) for kind in ("ingest", "preread", "delete")]
        assert sum(kinds) == count


def test_dropped_messages_are_counted_by_reason_and_from_nothing(web, told):
    before = {reason: told("preread_dropped_messages_total", reason=reason) for reason in DropReason}
    web.services.catalog.count_dropped(DropReason.BAD_MESSAGE, "{")
    after = {reason: told("preread_dropped_messages_total", reason=reason) for reason in DropReason}
    assert after == {**before, DropReason.BAD_MESSAGE: before[DropReason.BAD_MESSAGE] + 1}


def test_the_last_nightly_run_that_ended_is_told_and_whether_one_is_open(web, told, document):
    assert told("preread_nightly_end_timestamp_seconds", **OWN) is None
    catalog = web.services.catalog
    began = datetime.now(UTC).timestamp()
    published = catalog.published_documents("default")[0].id
    run = catalog.start_run("default", RunKind.NIGHTLY, [document, published], None)
    assert told("preread_run_open", **OWN, kind="nightly") == 1
    assert told("preread_nightly_end_timestamp_seconds", **OWN) is None, "it has not ended"
    catalog.add_to_run(run.id, document, "skipped", 0, 0, 0)
    catalog.end_run(run.id, RunState.STOPPED, "Its window is over.")
    catalog.end_run(catalog.start_run("default", RunKind.MANUAL, [], None).id, RunState.DONE)
    assert began <= told("preread_nightly_end_timestamp_seconds", **OWN) <= datetime.now(UTC).timestamp()
    assert told("preread_nightly_complete", **OWN) == 0
    outcomes = ("planned", "done", "skipped", "failed", "left")
    assert [told("preread_nightly_documents", **OWN, outcome=outcome) for outcome in outcomes] == [2, 0, 1, 0, 1]
    assert [told("preread_run_open", **OWN, kind=kind) for kind in RunKind] == [0, 0]


def test_another_tenants_jobs_and_runs_are_not_told(web, told):
    shown = exposition(web.services, admin_of(TENANT)).decode().splitlines()
    before = [line for line in shown if line.startswith("preread_jobs")]
    catalog = web.services.catalog
    document, _ = catalog.add_document("other", "theirs.md", "7" * 64, "text/plain", 1)
    run = catalog.start_run("other", RunKind.NIGHTLY, [], None)
    after = exposition(web.services, admin_of(TENANT)).decode().splitlines()
    assert [line for line in after if line.startswith("preread_jobs")] == before
    assert told("preread_run_open", **OWN, kind="nightly") == 0
    catalog.end_run(run.id, RunState.DONE)
    catalog.begin_delete("other", document.id)
    catalog.finish_delete(document.id)


def test_what_is_left_to_be_indexed_anew_is_told_unless_the_index_does_not_answer(web, told, monkeypatch):
    assert told("preread_reindex_chunks_left") == 0
    monkeypatch.setattr(web.services.reindexing, "left", lambda: 7)
    assert told("preread_reindex_chunks_left") == 7

    def away():
        raise IndexUnavailable("The index does not answer.")

    monkeypatch.setattr(web.services.reindexing, "left", away)
    assert told("preread_reindex_chunks_left") is None
    assert told("preread_run_open", **OWN, kind="nightly") == 0, "all else is there"
