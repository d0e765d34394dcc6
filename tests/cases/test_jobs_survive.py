"""Jobs: what a crash, a poisonous file or a wake-up that comes twice may cost. (Kills of real processes at other
moments: tests/workers, tests/e2e and tests/chaos.)"""

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from private_redis import celery_process, private_redis, start_celery, wait_until
from served import served
from served_web import web_served

from app.core.catalog import Catalog, RunState
from app.core.settings import Settings
from app.web.main import create_app
from workers.ingest import ingest
from workers.nightly import run_of_now
from workers.preread import preread

RULES = (
    "# Rules\n\n" + "\n\n".join(f"Rule {n}: a clerk of grade {n} has {20 + n} days of leave." for n in range(20)) + "\n"
)
POISON_APP = """
import os
import signal

from retrieval import parsing
from workers.celery_app import app

parse_apart = parsing.parse_apart


def poisonous(data, name, limits):
    if name == "poison.md":
        os.kill(os.getpid(), signal.SIGKILL)
    return parse_apart(data, name, limits)


parsing.parse_apart = poisonous
"""
WORKER = ("-A", "poison_app", "worker", "--concurrency=1", "--beat", "--schedule", "schedule")


@pytest.fixture
def settings(tmp_path, tmp_path_factory):
    """Of a worker that is killed by each document called poison.md."""
    (tmp_path / "poison_app.py").write_text(POISON_APP)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with private_redis(tmp_path_factory.mktemp("r")) as path:
        yield Settings(
            _env_file=None,
            state_dir=tmp_path / "state",
            port=port,
            web_url=f"http://127.0.0.1:{port}",
            engine_url="http://127.0.0.1:1",
            redis_url=f"redis+socket://{path}",
            internal_secret="secret-of-this-test",
            task_attempts=2,
            retry_seconds=0.1,
            lease_seconds=5,
        )


@pytest.fixture
def client(settings):
    with web_served(create_app(settings), settings, port=settings.port, timeout_seconds=60) as (_, client):
        yield client


def add(client, name):
    answer = client.post("/documents", files={"file": (name, f"# {name}\n\nThe harbour of {name} is deep.\n".encode())})
    return answer.json()["document"]["id"]


def state(client, document_id):
    return client.get(f"/documents/{document_id}").json()["state"]


def dead(client):
    return client.get("/jobs", params={"state": "dead"}).json()["items"]


def test_a_document_that_kills_its_worker_is_set_aside_and_the_others_go_on(client, settings, tmp_path):
    """Cases 14 and 15. Nothing stays in work for ever, and one poisonous document blocks no queue, also after a
    restart: it is set aside after its tries, shown with its reason, and can be retried and purged."""
    poison = add(client, "poison.md")
    good = [add(client, f"{number}.md") for number in range(2)]
    with celery_process(settings, tmp_path, *WORKER):
        wait_until(lambda: all(state(client, each) == "indexed" for each in good), "the others are read in")
        (letter,) = wait_until(lambda: dead(client), "the poisonous one is set aside")
    assert (letter["document_id"], letter["attempts"], letter["reason_code"]) == (poison, 2, "worker_lost")
    assert letter["reason"]
    assert state(client, poison) == "failed"
    late = add(client, "late.md")
    with celery_process(settings, tmp_path, *WORKER):
        wait_until(lambda: state(client, late) == "indexed", "a document that came later is read in")
        assert [each["id"] for each in dead(client)] == [letter["id"]], "a restart does not try it again"
        assert client.post(f"/jobs/{letter['id']}/retry").status_code == 202
        wait_until(lambda: dead(client), "it is set aside again")
        assert client.delete(f"/jobs/{letter['id']}").status_code == 204
    assert dead(client) == []
    assert [state(client, each) for each in (poison, *good, late)] == ["failed", *["indexed"] * 3]


def test_what_a_killed_worker_was_at_is_taken_up_by_the_next_one(client, settings, tmp_path):
    """Case 14. A worker that is killed with all its processes, with what waits in the queue lost too."""
    (tmp_path / "poison_app.py").write_text(POISON_APP.replace("SIGKILL", "SIGSTOP"))
    stopped = add(client, "poison.md")
    worker = start_celery(settings, tmp_path, *WORKER)
    wait_until(lambda: client.get("/jobs", params={"state": "running"}).json()["items"], "it is being worked on")
    waiting = add(client, "waiting.md")
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    (tmp_path / "poison_app.py").write_text("from workers.celery_app import app\n")
    with celery_process(settings, tmp_path, *WORKER):
        wait_until(lambda: {state(client, each) for each in (stopped, waiting)} == {"indexed"}, "both are read in")
    counts = [client.get(f"/documents/{each}/vectors").json()["vectors"] for each in (stopped, waiting)]
    assert counts == [client.get(f"/documents/{each}").json()["chunks"] for each in (stopped, waiting)]


class TestTwice:
    """Case 16. A wake-up that is delivered again, because the first took longer than the broker waits or for any other
    reason, changes nothing: one result, no vector and no chunk KV twice."""

    def test_many_deliveries_at_once_make_one_result(self, empty):
        document_id = empty.upload("rules.md", RULES)["document"]["id"]
        context = empty.context
        with ThreadPoolExecutor(4) as threads:
            done = list(threads.map(lambda _: ingest(document_id, context), range(4)))
        assert any(done)
        assert empty.shown(document_id)["state"] == "indexed"
        left = empty.left()
        assert left["vectors"] == left["chunks"] == empty.shown(document_id)["chunks"]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: preread(document_id, context), range(4)))
        assert empty.shown(document_id)["state"] == "preread"
        assert len(empty.staging.captured) == len(set(empty.staging.captured)), "no chunk is read twice"

    def test_a_delivery_after_everything_is_done_changes_nothing(self, empty):
        document_id = empty.add("rules.md", RULES)["id"]
        empty.preread(document_id)
        before, read = empty.left(), len(empty.staging.captured)
        for _ in range(3):
            ingest(document_id, empty.context)
            empty.preread(document_id)
        assert (empty.left(), len(empty.staging.captured)) == (before, read)
        assert empty.shown(document_id)["state"] == "preread"


CHANGES = [
    ("Europe/Berlin", "2026-03-29"), ("Europe/Berlin", "2026-10-25"), ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"), ("Australia/Lord_Howe", "2026-04-05"), ("Australia/Lord_Howe", "2026-10-04"),
    ("Africa/Cairo", "2026-04-24"), ("Africa/Cairo", "2026-10-30"), ("UTC", "2026-03-29"),
]  # fmt: skip


@pytest.mark.parametrize(("zone", "day"), CHANGES)
@pytest.mark.parametrize("at", ["00:00", "02:30"])
def test_the_nightly_run_begins_once_a_night_where_the_clocks_change(tmp_path, zone, day, at):
    """Case 17. Also where its time is skipped or comes twice, however often somebody asks whether it is time."""
    settings = Settings(_env_file=None, state_dir=tmp_path, timezone=zone, nightly_at=at, nightly_until="06:00")
    noon = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=ZoneInfo(zone))
    now = (noon - timedelta(days=2)).astimezone(UTC)
    catalog = Catalog(settings.effective_database_url, lambda: now)
    catalog.migrate()
    while now < noon + timedelta(days=2):
        run = run_of_now(catalog, settings, now)
        if run is not None:
            catalog.end_run(run.id, RunState.DONE)
        now += timedelta(minutes=30)
    started = sorted(run.started_at for run in catalog.runs(settings.tenant))
    catalog.close()
    assert len(started) == 4
    assert all(timedelta(hours=22) <= after - before <= timedelta(hours=26) for before, after in pairwise(started))


def test_a_restart_in_the_middle_of_pre_reading_loses_no_progress(engine, tmp_path):
    """Case 18. What was finished before a crash is not done again after it."""
    read, starts, more = [], 0, True
    while more:
        with served(tmp_path / "state", engine, chunk_tokens=100) as service:
            document_id = service.upload("rules.md", RULES)["document"]["id"]
            ingest(document_id, service.context)
            more = service.preread_some(document_id)
            assert service.staging.captured or not more, "each start makes some progress"
            read += service.staging.captured
            starts += 1
            state = service.shown(document_id)["state"]
    assert (state, starts > 2) == ("preread", True)
    assert len(read) == len(set(read)), "nothing was read twice"
