"""How `preread worker` becomes Celery's worker."""

import os

import pytest

from app.cli.worker import worker
from app.core.settings import get_settings


class Replaced(Exception):
    """This process would be another one now."""


@pytest.fixture
def environment_of_celery(tmp_path, monkeypatch):
    def environment(**own):
        def replace(_path, command, environment):
            assert command[1:4] == ["-m", "celery", "--app"]
            found.update(environment)
            raise Replaced

        found = {}
        monkeypatch.setenv("PREREAD_STATE_DIR", str(tmp_path))
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        for name, value in own.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(os, "execve", replace)
        get_settings.cache_clear()
        with pytest.raises(Replaced):
            worker()
        get_settings.cache_clear()
        return found

    return environment


def test_a_worker_computes_on_one_core_unless_it_is_told_otherwise(environment_of_celery):
    assert environment_of_celery()["OMP_NUM_THREADS"] == "1"
    assert environment_of_celery(OMP_NUM_THREADS="4")["OMP_NUM_THREADS"] == "4"


def test_a_log_of_json_has_no_bars(environment_of_celery):
    assert "TQDM_DISABLE" not in environment_of_celery()
    assert environment_of_celery(PREREAD_LOG_FORMAT="json")["TQDM_DISABLE"] == "1"


def test_it_keeps_the_environment(environment_of_celery):
    assert environment_of_celery(PREREAD_WORKER_NAME="left")["PREREAD_WORKER_NAME"] == "left"
