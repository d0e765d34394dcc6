"""The real Celery worker and beat against a private Redis."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from mortal_redis import MortalRedis
from private_redis import celery_process, private_redis, wait_until
from redis import Redis

from app.core.settings import Settings
from workers.broker import MISS, make_celery, queued
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

@shared_task(name="orphans")
def orphans():
    note("orphans")

@shared_task(name="run")
def run():
    note("run")
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
    celery.send_task("reconcile", priority=MISS)
    assert queued(celery) == {("preread", "doc_1"), ("ingest", "doc_2"), ("reconcile", "")}


def test_a_dead_broker_is_told_quickly_and_raises_nothing(tmp_path):
    waker = Waker(make_celery(Settings(state_dir=tmp_path, redis_url=f"redis+socket://{tmp_path}/none.sock")))
    began = time.monotonic()
    assert waker.wake_ingest("doc_1") is False
    assert waker.workers() == 0
    with pytest.raises(QueueUnavailable):
        waker.check()
    assert time.monotonic() - began < 15


def test_a_broker_that_dies_while_workers_are_asked_for_or_between_two_questions_raises_nothing(tmp_path_factory):
    folder = tmp_path_factory.mktemp("r")
    redis = MortalRedis(folder)
    waker = Waker(make_celery(Settings(state_dir=folder, redis_url=f"redis+socket://{folder}/kv.sock")))

    def somebody_waits():
        with Redis(unix_socket_path=f"{folder}/kv.sock") as client:
            return client.info("clients")["blocked_clients"]

    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(waker.workers)
        wait_until(somebody_waits, "the answer of a worker is waited for")
        redis.kill()
        assert asked.result() == 0
    redis.start()
    assert waker.workers() == 0
    redis.kill()
    redis.start()
    assert waker.workers() == 0
    assert waker.wake_ingest("doc_1")
    redis.kill()


def test_a_real_worker_takes_misses_before_uploads_before_the_night_and_answers_pings(settings, tmp_path):
    celery = make_celery(settings)
    waker = Waker(celery)
    calls = tmp_path / "calls.jsonl"
    (tmp_path / "noting.py").write_text(NOTING_TASKS.format(calls=str(calls)))
    (tmp_path / "noting_app.py").write_text(NOTING_APP)
    for number in range(3):
        waker.wake_run()
        waker.wake_preread(f"doc_read_{number}")
        waker.wake_ingest(f"doc_upload_{number}")
        waker.wake_missed(f"doc_missed_{number}")
    with celery_process(settings, tmp_path, "-A", "noting_app", "worker", "--concurrency=1"):
        wait_until(lambda: calls.exists() and len(calls.read_text().splitlines()) == 14, "all tasks have run")
        called = [json.loads(line) for line in calls.read_text().splitlines()]
        assert [call for call in called if call not in (["reconcile"], ["orphans"])] == [
            *(["preread", f"doc_missed_{number}"] for number in range(3)),
            *(["ingest", f"doc_upload_{number}"] for number in range(3)),
            *(["preread", f"doc_read_{number}"] for number in range(3)),
            *[["run"]] * 3,
        ]
        assert ["reconcile"] in called, "repair begins with the worker"
        assert ["orphans"] in called
        assert waker.workers() == 1
        assert queued(celery) == set()


def test_every_wake_up_expires_and_no_task_outlasts_the_brokers_patience(settings):
    celery = make_celery(settings)
    waker = Waker(celery)
    for wake in (waker.wake_ingest, waker.wake_preread, waker.wake_missed, waker.wake_delete):
        wake("doc_1")
    waker.wake_run()
    with celery.connection_for_read() as connection:
        client = connection.default_channel.client
        messages = [json.loads(each) for key in client.keys("preread*") for each in client.lrange(key, 0, -1)]
    assert len(messages) == 5
    assert all(message["headers"]["expires"] for message in messages)
    assert all(entry["options"]["expires"] for entry in celery.conf.beat_schedule.values())
    longest = celery.conf.task_time_limit
    assert celery.conf.task_soft_time_limit < longest < celery.conf.broker_transport_options["visibility_timeout"]
    assert (celery.conf.task_acks_late, celery.conf.worker_prefetch_multiplier) == (True, 1)
    assert celery.conf.accept_content == ["json"]


def test_what_is_no_message_of_ours_does_not_hide_the_others(settings):
    celery = make_celery(settings)
    with celery.connection_for_write() as connection:
        for junk in ("{", "[]", "5", "{}", '{"body": "!", "headers": {"task": "preread"}}'):
            connection.default_channel.client.lpush("preread", junk)
    Waker(celery).wake_missed("doc_1")
    assert queued(celery) == {("preread", "doc_1")}


def test_a_real_beat_asks_for_reconcile_also_after_it_was_started_anew(settings, tmp_path):
    celery = make_celery(settings)
    for _ in range(2):
        with celery.connection_for_write() as connection:
            connection.default_channel.client.flushall()
        with celery_process(settings, tmp_path, "-A", "workers.celery_app", "beat", "--pidfile=") as beat:
            wait_until(lambda: ("reconcile", "") in queued(celery), "reconcile is asked for")
            assert beat.poll() is None
