"""Jobs and runs through the API."""

from datetime import UTC, datetime

import pytest

from app.core.catalog import RunKind, RunState


@pytest.fixture
def catalog(web):
    return web.services.catalog


@pytest.fixture
def failed(web, catalog):
    """A document that was given up after two tries."""
    document_id = web.add("jobs.md", f"# Jobs\n\nEvery job is done by somebody at {datetime.now(UTC)}.\n")
    catalog.request_preread("default", [document_id])
    for _ in range(2):
        catalog.make_due([document_id])
        assert catalog.begin_attempt(document_id, "preread", lambda _: 600)
    assert catalog.claim(document_id, "worker", 60)
    catalog.fail(document_id, "worker", "time_limit", "It took too long.")
    yield document_id
    web.client.delete(f"/documents/{document_id}")


def jobs(web, **params):
    return web.client.get("/jobs", params=params).json()


def test_a_dead_letter_is_shown_with_its_reason_retried_and_purged(web, catalog, failed):
    page = jobs(web, state="dead")
    (letter,) = [job for job in page["items"] if job["document_id"] == failed]
    assert letter["id"] == f"preread-{failed}"
    assert (letter["state"], letter["attempts"], letter["reason_code"]) == ("dead", 2, "time_limit")
    assert page["counts"]["dead"] == page["total"] >= 1

    retried = web.client.post(f"/jobs/{letter['id']}/retry")
    assert retried.status_code == 202
    assert (retried.json()["state"], retried.json()["attempts"]) == ("waiting", 0)
    assert failed not in {job["document_id"] for job in jobs(web, state="dead")["items"]}
    assert web.client.delete(f"/jobs/{retried.json()['id']}").status_code == 409

    assert catalog.claim(failed, "worker", 60)
    catalog.fail(failed, "worker", "time_limit", "It took too long.")
    (letter,) = [job for job in jobs(web)["items"] if job["document_id"] == failed]
    assert web.client.delete(f"/jobs/{letter['id']}").status_code == 204
    assert failed not in {job["document_id"] for job in jobs(web)["items"]}
    assert web.client.get(f"/documents/{failed}").json()["failure"]["code"] == "time_limit"
    assert web.client.delete(f"/jobs/{letter['id']}").status_code == 404


def test_a_job_that_waits_for_its_next_try_is_tried_now(web, catalog):
    document_id = web.add("wait.md", "# Wait\n\nWho waits has time.\n")
    assert catalog.begin_attempt(document_id, "preread", lambda _: 600)
    (job,) = [job for job in jobs(web, state="waiting")["items"] if job["document_id"] == document_id]
    assert job["due_at"] is not None
    assert web.client.post(f"/jobs/{job['id']}/retry").json()["due_at"] is None
    web.client.delete(f"/documents/{document_id}")


@pytest.mark.parametrize("job_id", ["preread-doc_none", "ingest", "%2e%2e", "x" * 90])
def test_a_job_that_is_not_there_is_a_problem(web, job_id):
    for answer in (web.client.post(f"/jobs/{job_id}/retry"), web.client.delete(f"/jobs/{job_id}")):
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


def test_a_job_id_of_another_stage_is_not_found(web, failed):
    assert web.client.post(f"/jobs/ingest-{failed}/retry").json()["code"] == "job_not_found"


def test_pages_of_jobs_follow_each_other(web, failed):
    total = jobs(web)["total"]
    seen = [job["id"] for offset in range(total) for job in jobs(web, limit=1, offset=offset)["items"]]
    assert len(set(seen)) == len(seen) == total
    assert web.client.get("/jobs", params={"state": "asleep"}).status_code == 422


def test_what_was_dropped_is_counted(web, catalog):
    before = jobs(web)["dropped"].get("unreadable", 0)
    catalog.count_dropped("unreadable", "{")
    assert jobs(web)["dropped"]["unreadable"] == before + 1


def test_precompute_opens_a_run_that_is_shown_with_its_report(web, catalog):
    document_id = web.add("lamp.md", "# Lamp\n\nEvery desk has three lamps.\n")
    started = web.client.post("/precompute", json={"document_id": document_id})
    assert (started.status_code, started.json()["documents"]) == (202, 1)
    run_id = started.json()["run_id"]
    run = web.client.get(f"/admin/runs/{run_id}").json()
    assert (run["kind"], run["state"], run["planned"], run["left"]) == ("manual", "running", 1, 1)
    assert run["tokens_per_second"] is None
    catalog.add_to_run(run_id, document_id, "done", 100, 1000, 2.0)
    catalog.end_run(run_id, RunState.DONE)
    run = web.client.get(f"/admin/runs/{run_id}").json()
    assert (run["state"], run["done"], run["left"], run["tokens_per_second"]) == ("done", 1, 0, 50.0)
    assert web.client.get("/admin/runs").json()["items"][0] == run
    assert web.client.get("/admin/runs/run_none").json()["code"] == "run_not_found"
    assert web.client.post("/precompute", json={"document_id": "doc_none"}).status_code == 404


def test_hit_rates_are_those_between_runs(web, catalog):
    def count(hits, misses):
        catalog.record_lookups("default", {"disk": (hits, 0)}, {"evicted": (misses, 0)}, {}, datetime.now(UTC))

    def run():
        started = catalog.start_run("default", RunKind.MANUAL, [], None)
        catalog.end_run(started.id, RunState.DONE)

    run()
    count(1, 3)
    run()
    count(3, 1)
    shown = web.client.get("/admin/runs", params={"limit": 2}).json()["items"]
    assert (shown[0]["hit_rate_before"], shown[0]["hit_rate_after"]) == (0.25, 0.75)
    assert shown[1]["hit_rate_after"] == 0.25
    second = web.client.get("/admin/runs", params={"limit": 1, "offset": 1}).json()["items"]
    assert second == shown[1:]
    run()
    assert web.client.get("/admin/runs").json()["items"][0]["hit_rate_after"] is None, "nothing was asked since"
