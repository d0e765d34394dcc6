"""`preread jobs`, `preread precompute` and what `preread status` says of both."""

import json

import pytest
from typer.testing import CliRunner

from app.cli.main import cli
from app.cli.run_view import run_line
from app.core.settings import get_settings
from app.web.schemas.jobs import RunOut

JOB = {
    "id": "preread-doc_1", "task": "preread", "state": "dead", "document_id": "doc_1", "document_name": "[b]a[/b].md",
    "attempts": 5, "reason_code": "time_limit", "reason": "It took too long.", "first_at": "2026-06-02T01:00:00Z",
    "last_at": "2026-06-02T02:00:00Z", "due_at": None,
}  # fmt: skip
JOBS = {"items": [JOB], "total": 1, "counts": {"running": 0, "waiting": 2, "dead": 1}, "dropped": {"unreadable": 3}}
RUN = {
    "id": "run_1", "kind": "manual", "state": "done", "reason": "", "started_at": "2026-06-02T02:30:00Z",
    "ended_at": "2026-06-02T03:00:00Z", "until": None, "planned": 4, "done": 2, "skipped": 1, "failed": 1, "left": 0,
    "tokens": 12000, "bytes": 3_000_000, "tokens_per_second": 123.4, "hit_rate_before": 0.5, "hit_rate_after": None,
    "tended": {},
}  # fmt: skip


@pytest.fixture
def web(server, monkeypatch):
    """Answers by method and path; `asked` are those."""
    monkeypatch.setenv("PREREAD_WEB_URL", f"http://127.0.0.1:{server.server_port}")
    get_settings.cache_clear()
    yield server
    get_settings.cache_clear()


def answer(web, body, status=200):
    web.answer = (status, "application/json", json.dumps(body).encode())


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def test_jobs_are_listed_with_their_reasons_and_nothing_of_a_name_is_taken_for_markup(web):
    answer(web, JOBS)
    shown = run("jobs", "--dead")
    assert shown.exit_code == 0, shown.output
    for text in ("preread-doc_1", "[b]a[/b].md", "time_limit: It took too long.", "2 waiting", "3 unreadable"):
        assert text in shown.output
    assert "state=dead" in web.asked[-1][0]


def test_jobs_as_json_are_one_object(web):
    answer(web, JOBS)
    assert json.loads(run("jobs", "--json").output)["items"][0]["id"] == "preread-doc_1"


def test_a_job_is_retried_or_purged_but_not_both(web):
    answer(web, JOB | {"state": "waiting"}, 202)
    assert "is tried again" in run("jobs", "--retry", "preread-doc_1").output
    assert web.asked[-1][0] == "/jobs/preread-doc_1/retry"
    web.answer = (204, "application/json", b"")
    assert "off the list" in run("jobs", "--purge", "preread-doc_1").output
    assert run("jobs", "--retry", "a", "--purge", "b").exit_code == 2


def test_a_runs_line_says_what_became_of_each_document_and_has_no_numbers_without_data():
    line = run_line(RunOut.model_validate(RUN))
    assert line == (
        "2 of 4 documents pre-read, 1 had nothing missing, 1 failed, 12,000 tokens at 123 a second, 3.0 MB, "
        "hit rate before 50%"
    )
    nothing = {"tokens": 0, "tokens_per_second": None, "hit_rate_before": None, "failed": 0, "left": 1}
    stopped = run_line(RunOut.model_validate(RUN | nothing | {"reason": "Its window is over."}))
    assert stopped == "2 of 4 documents pre-read, 1 had nothing missing, 1 left. Its window is over."
