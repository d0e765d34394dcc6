"""The engine's lines: vLLM's own, in our form where that is JSON."""

import json
import os
import subprocess
import sys

from app.cli import engine
from app.core.settings import Settings

LOGGING = """
from vllm.config.logging import LoggingConfig
from vllm.logger import configure_logging, init_logger
configure_logging(LoggingConfig())
init_logger("vllm.somewhere").info("loaded %d layers", 30)
"""


def test_vllm_logs_one_object_a_line(tmp_path):
    settings = Settings(_env_file=None, state_dir=tmp_path, log_format="json")
    environment = {**os.environ, "VLLM_LOGGING_CONFIG_PATH": str(engine.logging_file(settings))}
    command = [sys.executable, "-c", LOGGING]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    (line,) = [json.loads(line) for line in done.stderr.splitlines() if "loaded" in line]
    assert line.items() >= {"level": "INFO", "logger": "vllm.somewhere", "message": "loaded 30 layers"}.items()


def test_the_engine_is_told_where_to_read_it_and_only_where_it_is_json(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(os, "execvpe", lambda _program, _command, environment: told.append(environment))
    monkeypatch.setenv("PREREAD_STATE_DIR", str(tmp_path))
    for log_format in ("text", "json"):
        monkeypatch.setattr(engine, "get_settings", lambda form=log_format: Settings(_env_file=None, log_format=form))
        engine.engine(prepare_only=False)
    assert ["VLLM_LOGGING_CONFIG_PATH" in environment for environment in told] == [False, True]
