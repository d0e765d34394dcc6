"""`preread doctor` about the gate."""

import json
from pathlib import Path

import pytest

from app.cli.checks.finding import Level
from app.cli.checks.gate import check_gate
from generator.conditioning import Conditioning
from generator.fingerprint import model_fingerprint
from generator.gate import GateResult, gate_path, save_gate


@pytest.fixture
def with_model(settings, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    return settings.model_copy(update={"model": str(folder)})


def keep_result(settings, **changes) -> None:
    fingerprint = model_fingerprint(Path(settings.model), settings.effective_dtype)
    fields = {"floor": 0.08, "chunk_tokens": 512, "provenance": {"data": "musique"}} | changes
    result = GateResult(fingerprint, "impact@.08", Conditioning.OFF, **fields)
    save_gate(gate_path(settings.state_dir, fingerprint), result)


def test_a_model_that_was_never_measured_is_a_warning_that_says_how_to_measure_it(with_model) -> None:
    finding = check_gate(with_model)
    assert finding.level is Level.WARN
    assert finding.message.startswith("no gate result for this model: conservative default")
    assert "preread bench gate" in finding.hint


def test_a_measured_model_is_well(with_model) -> None:
    keep_result(with_model)
    finding = check_gate(with_model)
    assert (finding.level, "impact@.08" in finding.message) == (Level.OK, True)


def test_a_result_for_chunks_of_another_length_is_a_warning(with_model) -> None:
    keep_result(with_model, chunk_tokens=128)
    finding = check_gate(with_model)
    assert finding.level is Level.WARN
    assert "chunks of 128 tokens" in finding.message
    assert "yours have 512" in finding.message


def test_a_result_that_cannot_be_used_is_a_failure_that_names_the_file(with_model) -> None:
    keep_result(with_model)
    (path,) = (with_model.state_dir / "gates").iterdir()
    path.write_text("{")
    finding = check_gate(with_model)
    assert finding.level is Level.FAIL
    assert str(path) in finding.message


def test_nothing_is_asked_of_the_gate_where_everything_is_set(with_model) -> None:
    assert check_gate(with_model.model_copy(update={"policy": "none", "conditioning": "off"})).level is Level.OK


def test_a_model_still_to_be_fetched_is_not_judged(settings, tmp_path) -> None:
    assert check_gate(settings.model_copy(update={"model": "someone/something"})).level is Level.OK
