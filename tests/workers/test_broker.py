"""The real Celery worker and beat against a private Redis."""

import json
import time

import pytest
from private_redis import celery_process, private_redis, wait_until

from app.core.settings import Settings
from workers.broker import URGENT, make_celery, queued
from workers.wake import QueueUnavailable, Waker

NOTING_TASKS = """
import json
from celery import shared_task

def note(*call):
    with open({calls!r}, "a") as file:
        file.write(json.dumps(call) + chr(10))

@shared_task(name="ingest")
def ingest(document_id):
    note("ingest", document_id)

@shared_task(name="preread")
def preread(document_id):
    note("preread", document_id)

@shared_task(name="reconcile")
def reconcile():
    note("reconcile")
"""
NOTING_APP = """
from workers.celery_app import app
app.conf.include = ["noting"]
"""


@pytest.fixture
def settings(tmp_path, tmp_path_factory):
    with private_redis(tmp_path_factory.mktemp("r")) as socket:
        yield Settings(state_dir=tmp_path / "state", redis_url=f"redis+socket://{socket}")


def test_wake_ups_wait_in_the_queue_until_a_worker_takes_them(settings):
    celery = make_celery(settings)
    waker = Waker(celery)
    waker.check()
    assert queued(celery) == set()
    assert waker.wake_preread("doc_1")
    assert waker.wake_ingest("doc_2")
    celery.send_task("reconcile", priority=URGENT)
    assert queued(celery) == {("preread", "doc_1"), ("ingest", "doc_2"), ("reconcile", "")}


def test_a_dead_broker_is_told_quickly_and_raises_nothing(tmp_path):
    waker = Waker(make_celery(Settings(state_dir=tmp_path, redis_url=f"redis+socket://{tmp_path}/none.sock")))
    began = time.monotonic()
    assert waker.wake_ingest("doc_1") is False
    assert waker.workers() == 0
    with pytest.raises(QueueUnavailable):
        waker.check()
    assert time.monotonic() - began < 15


def test_a_real_worker_takes_urgent_wake_ups_first_and_answers_pings(settings, tmp_path):
    celery = make_celery(settings)
    waker = Waker(celery)
    calls = tmp_path / "calls.jsonl"
    (tmp_path / "noting.py").write_text(NOTING_TASKS.format(calls=str(calls)))
    (tmp_path / "noting_app.py").write_text(NOTING_APP)
    waker.wake_preread("doc_1")
    waker.wake_ingest("doc_2")
    with celery_process(settings, tmp_path, "-A", "noting_app", "worker", "--concurrency=1"):
        wait_until(lambda: calls.exists() and len(calls.read_text().splitlines()) == 3, "three tasks have run")
        called = [json.loads(line) for line in calls.read_text().splitlines()]
        assert called.index(["ingest", "doc_2"]) < called.index(["preread", "doc_1"])
        assert ["reconcile"] in called
        assert waker.workers() == 1
        assert queued(celery) == set()


def test_a_real_beat_asks_for_reconcile_also_after_it_was_started_anew(settings, tmp_path):
    celery = make_celery(settings)
    for _ in range(2):
        with celery.connection_for_write() as connection:
            connection.default_channel.client.flushall()
        with celery_process(settings, tmp_path, "-A", "workers.celery_app", "beat", "--pidfile=") as beat:
            wait_until(lambda: ("reconcile", "") in queued(celery), "reconcile is asked for")
            assert beat.poll() is None
