"""What hangs, kills or cannot be read, against a real worker, a real Redis and the real tasks."""

import os
import signal
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from private_redis import celery_process, private_redis, start_celery, wait_until
from staging_engine import FINGERPRINT

from app.core.catalog import DocumentState, JobState, RunState
from workers.broker import make_celery
from workers.ingest import ingest
from workers.precompute import start_by_hand
from workers.upkeep import reconcile
from workers.wake import Waker

TENANT = "default"
BEAT_AND_WORKER = ("worker", "--concurrency=1", "--beat", "--schedule", "schedule")
STATUS = (
    f'{{"model": "tiny", "fingerprint": "{FINGERPRINT}", "dtype": "bfloat16", "max_model_tokens": 8192, '
    '"fusion": true, "fusion_reason": null}'
)
DEAF_APP = """
import signal
from workers import tasks
from workers.celery_app import app

tasks.install = lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN)
"""


class HangingEngine(ThreadingHTTPServer):
    """Says that it is ready, and never ends a completion."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), HangingHandler)
        self.asked = threading.Semaphore(0)
        self.closing = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.closing.set()
        self.shutdown()
        self.server_close()


class HangingHandler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", str(len(STATUS)))
        self.end_headers()
        self.wfile.write(STATUS.encode())

    def do_POST(self):
        self.server.asked.release()
        self.server.closing.wait()

    def log_message(self, *_):
        pass


@pytest.fixture
def engine():
    engine = HangingEngine()
    yield engine
    engine.close()


@pytest.fixture
def at_work(context, add, engine, tmp_path_factory):
    """The context of a worker with a Redis of its own, whose engine hangs, and a document that is to be pre-read."""
    document = add("travel.md", "Whoever travels to town is paid 45 euros a day for meals.")
    assert ingest(document.id, context)
    with private_redis(tmp_path_factory.mktemp("r")) as socket:
        settings = context.settings.model_copy(
            update={
                "redis_url": f"redis+socket://{socket}",
                "engine_url": f"http://127.0.0.1:{engine.server_port}",
                "web_url": "http://127.0.0.1:1",
                "task_seconds": 4,
                "task_attempts": 2,
                "retry_seconds": 0.1,
                "lease_seconds": 5,
            }
        )
        yield replace(context, settings=settings, waker=Waker(make_celery(settings))), document


def job(context, document):
    return context.catalog.job_of(TENANT, document.id)


def dead(context, document):
    found = job(context, document)
    return found if found and found.state is JobState.DEAD else None


def test_a_task_that_hangs_is_given_up_tried_again_and_fails_in_the_end(at_work, tmp_path):
    context, document = at_work
    with celery_process(context.settings, tmp_path, "-A", "workers.celery_app", *BEAT_AND_WORKER) as worker:
        found = wait_until(lambda: dead(context, document), "the document is set aside")
        assert worker.poll() is None
    assert (found.task, found.attempts, found.reason_code) == ("preread", 2, "time_limit")
    assert context.catalog.get_document(TENANT, document.id).state is DocumentState.FAILED


def test_a_task_that_does_not_hear_its_time_limit_is_ended_with_its_process(at_work, tmp_path):
    context, document = at_work
    (tmp_path / "deaf_app.py").write_text(DEAF_APP)
    with celery_process(context.settings, tmp_path, "-A", "deaf_app", *BEAT_AND_WORKER) as worker:
        found = wait_until(lambda: dead(context, document), "the document is set aside")
        assert worker.poll() is None
    assert (found.attempts, found.reason_code) == (2, "worker_lost")


def test_a_document_whose_worker_is_killed_each_time_is_set_aside_and_can_be_retried(at_work, engine, tmp_path):
    context, document = at_work
    context = replace(context, settings=context.settings.model_copy(update={"task_seconds": 600}))
    for killed in range(1, 3):
        worker = start_celery(context.settings, tmp_path, "-A", "workers.celery_app", *BEAT_AND_WORKER)
        assert engine.asked.acquire(timeout=60)
        assert job(context, document).attempts == killed
        assert job(context, document).state is JobState.RUNNING
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    with celery_process(context.settings, tmp_path, "-A", "workers.celery_app", *BEAT_AND_WORKER):
        found = wait_until(lambda: dead(context, document), "the document is set aside")
        assert (found.attempts, found.reason_code) == (2, "worker_lost")
        context.catalog.retry(document.id)
        assert job(context, document).attempts == 0


def test_a_run_whose_worker_is_killed_is_gone_on_with(at_work, engine, tmp_path):
    context, document = at_work
    context = replace(context, settings=context.settings.model_copy(update={"task_seconds": 600}))
    run = start_by_hand(TENANT, None, again=False, catalog=context.catalog, waker=context.waker, lanes=1)
    worker = start_celery(context.settings, tmp_path, "-A", "workers.celery_app", *BEAT_AND_WORKER)
    assert engine.asked.acquire(timeout=60)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    assert context.catalog.left_of_run(run.id) == [document.id]
    engine.closing.set()
    with celery_process(context.settings, tmp_path, "-A", "workers.celery_app", *BEAT_AND_WORKER):
        wait_until(lambda: context.catalog.run_between(TENANT, run.id)[1].ended_at, "the run has ended")
    ended = context.catalog.run_between(TENANT, run.id)[1]
    assert (ended.state, ended.failed, ended.left) == (RunState.DONE, 1, 0), "this engine reads nothing"


def test_what_cannot_be_read_or_done_is_counted_and_dropped_and_the_worker_goes_on(at_work, tmp_path):
    context, document = at_work
    celery = make_celery(context.settings)
    with celery.connection_for_write() as connection:
        client = connection.default_channel.client
        for junk in ("{", "[]", '{"properties": 1}', '{"body": "x"}'):
            client.lpush("preread", junk)
    celery.send_task("mine_bitcoin", args=["now"], priority=0)
    celery.send_task("ingest", args=[], priority=0)
    celery.send_task("delete", args=["doc_none", "more"], priority=0)
    with celery_process(context.settings, tmp_path, "-A", "workers.celery_app", *BEAT_AND_WORKER) as worker:
        wait_until(lambda: sum(context.catalog.dropped_messages().values()) >= 7, "all are counted")
        wait_until(lambda: job(context, document).attempts, "the worker goes on")
        assert worker.poll() is None
    counted = context.catalog.dropped_messages()
    assert counted == {"unreadable": 4, "unknown_task": 1, "failed_task": 2}, "none of them came again"


def test_a_document_that_waits_for_its_next_try_is_not_woken_before(at_work):
    context, document = at_work
    context.catalog.begin_attempt(document.id, "preread", lambda _: 3600)
    now = context.catalog._clock()
    assert reconcile(context, set(), now) == 0
    context.catalog.make_due([document.id])
    assert reconcile(context, set(), now) == 1
