"""A worker's log lines name the request that woke it, also in the slices that follow."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from private_redis import private_redis, wait_until

from app.core.request_context import RequestContext, enter_request
from app.core.settings import Settings
from workers.broker import make_celery
from workers.wake import Waker

TELLING_TASKS = """
import logging
from celery import shared_task

log = logging.getLogger("telling")

@shared_task(name="ingest")
def ingest(document_id):
    log.info("ingest %s", document_id)
    from app.core.settings import get_settings
    from workers.broker import make_celery
    from workers.wake import Waker
    if document_id != "doc_last":
        Waker(make_celery(get_settings())).wake_preread("doc_last")

@shared_task(name="preread")
def preread(document_id):
    log.info("preread %s", document_id)

@shared_task(name="reconcile")
def reconcile(): pass

@shared_task(name="orphans")
def orphans(): pass

@shared_task(name="run")
def run(): pass
"""
TELLING_APP = """
from workers.celery_app import app
app.conf.include = ["telling_tasks"]
"""


@pytest.fixture
def settings(tmp_path, tmp_path_factory):
    with private_redis(tmp_path_factory.mktemp("r")) as socket:
        yield Settings(state_dir=tmp_path / "state", redis_url=f"redis+socket://{socket}", log_format="json")


@pytest.fixture
def asked():
    enter_request(RequestContext("asked-1"))
    yield
    enter_request(None)


def lines(log):
    found = []
    for line in filter(None, log.read_text().splitlines()):
        assert line.startswith("{"), line
        found.append(json.loads(line))
    return found


@contextmanager
def worker(settings, folder):
    """A real worker with tasks that log; yields the file of its log."""
    (folder / "telling_tasks.py").write_text(TELLING_TASKS)
    (folder / "telling_app.py").write_text(TELLING_APP)
    log = folder / "log"
    environment = {
        "PYTHONPATH": f"{folder}:{Path(__file__).parents[2]}",
        "PREREAD_STATE_DIR": str(settings.state_dir),
        "PREREAD_REDIS_URL": settings.redis_url,
        "PREREAD_LOG_FORMAT": settings.log_format,
        "TQDM_DISABLE": "1",
        "PYTHONWARNINGS": "ignore",  # Celery warns whoever runs it as root
    }
    command = [sys.executable, "-m", "celery", "-A", "telling_app", "worker", "--concurrency=1", "--loglevel=INFO"]
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stderr=stderr, start_new_session=True
        ) as process,
    ):
        try:
            yield log
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def told(log, message):
    return [line.get("request_id") for line in lines(log) if line["message"] == message]


def test_lines_of_tasks_name_the_request_and_slices_after_it_too(settings, tmp_path, asked):
    waker = Waker(make_celery(settings))
    waker.wake_ingest("doc_1")
    enter_request(None)
    waker.wake_ingest("doc_last")
    with worker(settings, tmp_path) as log:
        wait_until(lambda: told(log, "preread doc_last") and told(log, "ingest doc_last"), "all tasks have run")
    assert told(log, "ingest doc_1") == ["asked-1"]
    assert told(log, "preread doc_last") == ["asked-1"]
    assert told(log, "ingest doc_last") == [None]


def test_an_id_that_nobody_sane_would_send_is_not_logged(settings, tmp_path):
    celery = make_celery(settings)
    celery.send_task("ingest", args=["doc_last"], headers={"preread_request_id": "two\nlines"})
    celery.send_task("ingest", args=["doc_1"], headers={"preread_request_id": ["asked"]})
    with worker(settings, tmp_path) as log:
        wait_until(lambda: told(log, "ingest doc_last") and told(log, "ingest doc_1"), "all tasks have run")
    assert told(log, "ingest doc_last") == told(log, "ingest doc_1") == [None]
