"""Gate results: what is kept, what ships, and files that cannot be used."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator import gate
from generator.conditioning import Conditioning
from generator.errors import BadGate
from generator.gate import GateResult, conservative, gate_or_conservative, gate_path, gate_problem, load_gate, save_gate

MODEL = "ab" * 32


def result(**changes: Any) -> GateResult:
    fields: dict[str, Any] = {
        "fingerprint": MODEL,
        "policy": "impact@.08",
        "conditioning": Conditioning.NEUTRAL,
        "floor": 0.08,
        "chunk_tokens": 512,
        "provenance": {"command": "preread bench gate", "data": "musique"},
        "table": ({"policy": "impact@.08", "kl_mean": 0.01},),
    }
    return GateResult(**(fields | changes))


@given(
    floor=st.floats(0, 1),
    chunk_tokens=st.integers(1, 4096),
    conditioning=st.sampled_from(Conditioning),
    policy=st.sampled_from(["none", "head@16", "impact@.08", "hkvd@1", "alone:impact@.05"]),
)
def test_a_saved_result_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, floor: float, chunk_tokens: int, conditioning: Conditioning, policy: str
) -> None:
    state = tmp_path_factory.mktemp("state")
    kept = result(floor=floor, chunk_tokens=chunk_tokens, conditioning=conditioning, policy=policy)
    save_gate(gate_path(state, MODEL), kept)
    assert load_gate(state, MODEL) == kept
    assert [path.name for path in (state / "gates").iterdir()] == [f"{MODEL}.json"]


def test_a_model_without_a_result_runs_at_a_conservative_default_and_says_so(tmp_path: Path) -> None:
    assert load_gate(tmp_path, MODEL) is None
    default = gate_or_conservative(tmp_path, MODEL)
    assert default == conservative(MODEL)
    assert (default.policy, default.conditioning, default.floor) == ("impact@.15", Conditioning.OFF, 0.15)
    assert not default.measured
    assert "no gate result for this model: conservative default" in default.summary


def test_the_state_folder_goes_before_what_ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_SHIPPED", tmp_path / "shipped")
    save_gate(tmp_path / "shipped" / f"{MODEL}.json", result(policy="none", floor=0.0))
    state = tmp_path / "state"
    assert load_gate(state, MODEL) == result(policy="none", floor=0.0)
    save_gate(gate_path(state, MODEL), result())
    assert load_gate(state, MODEL) == result()


def written(**changes: Any) -> str:
    body = {
        "format": 1, "fingerprint": MODEL, "policy": "impact@.08", "conditioning": "off", "floor": 0.08,
        "chunk_tokens": 512, "provenance": {"data": "x"}, "table": [], "impact_layers": [12, 13],
    }  # fmt: skip
    return json.dumps(body | changes)


def test_a_file_with_every_field_can_be_used(tmp_path: Path) -> None:
    path = gate_path(tmp_path, MODEL)
    path.parent.mkdir()
    path.write_text(written())
    loaded = load_gate(tmp_path, MODEL)
    assert loaded is not None
    assert (loaded.policy, loaded.impact_layers) == ("impact@.08", (12, 13))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "7", "{}", "\ufeff{}",
        written(format=2), written(policy="magic"), written(policy=5), written(conditioning="always"),
        written(floor=2), written(floor="much"), written(floor=None), written(chunk_tokens="x"), written(provenance=3),
        written(provenance={}), written(table=4), written(impact_layers="x"), written(fingerprint="cd" * 32),
    ],
)  # fmt: skip
def test_a_bad_file_stops_nobody_and_is_named_with_what_to_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    path = gate_path(tmp_path, MODEL)
    path.parent.mkdir()
    path.write_text(text)
    with caplog.at_level(logging.ERROR):
        assert gate_or_conservative(tmp_path, MODEL) == conservative(MODEL)
    assert str(path) in caplog.text
    problem = gate_problem(tmp_path, MODEL)
    assert problem is not None
    assert str(path) in problem.message
    assert "preread bench gate" in problem.hint


def test_a_folder_in_the_place_of_the_file_stops_nobody(tmp_path: Path) -> None:
    gate_path(tmp_path, MODEL).mkdir(parents=True)
    assert gate_or_conservative(tmp_path, MODEL) == conservative(MODEL)


def test_a_file_that_cannot_be_read_as_text_is_a_bad_gate(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadGate, match="cannot be used"):
        gate.read_gate(path, MODEL)


def test_a_sound_file_has_no_problem(tmp_path: Path) -> None:
    assert gate_problem(tmp_path, MODEL) is None
    save_gate(gate_path(tmp_path, MODEL), result())
    assert gate_problem(tmp_path, MODEL) is None


def test_every_result_that_ships_can_be_used() -> None:
    for path in Path(gate.__file__).parent.joinpath("gates").glob("*.json"):
        assert gate.read_gate(path, path.stem).measured


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = gate_path(tmp_path, MODEL)
    path.parent.mkdir()
    path.write_text("{")
    with caplog.at_level(logging.ERROR):
        assert [load_gate(tmp_path, MODEL) for _ in range(3)] == [None] * 3
    assert len(caplog.records) == 1
    for floor in (0.02, 0.03):
        save_gate(path, result(floor=floor))
        assert load_gate(tmp_path, MODEL) == result(floor=floor)
