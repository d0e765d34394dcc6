"""What the engine is told: settings, and what was measured for the model."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from app.core.settings import Settings
from generator.conditioning import Conditioning
from generator.engine_config import EngineConfig
from generator.gate import GateResult, gate_path, save_gate

FINGERPRINT = "ab" * 32


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    result = GateResult(
        FINGERPRINT, "impact@.05", Conditioning.OFF, 0.04, 512, {"data": "made up"}, impact_layers=(8, 11)
    )
    save_gate(gate_path(tmp_path, FINGERPRINT), result)
    return tmp_path


def config(folder: Path, **settings: object) -> EngineConfig:
    return EngineConfig.from_settings(Settings(state_dir=folder, **settings), FINGERPRINT)  # type: ignore[arg-type]


def test_a_model_that_was_measured_uses_its_layers_and_its_floor(measured: Path) -> None:
    told = config(measured)
    assert (told.impact_layers, told.share_floor, told.share_ceiling) == ((8, 11), 0.04, 0.15)


def test_a_setting_goes_before_what_was_measured(measured: Path) -> None:
    assert config(measured, impact_layers="3,5").impact_layers == (3, 5)
    assert config(measured, impact_layers="last").impact_layers == (-1,)


def test_no_setting_allows_less_than_the_models_floor(measured: Path) -> None:
    assert config(measured, recompute_ratio=0.01).share_ceiling == 0.04


def test_a_model_that_was_not_measured_is_served_carefully(tmp_path: Path) -> None:
    told = config(tmp_path)
    assert (told.impact_layers, told.share_floor) == ((), 0.15)


@pytest.mark.parametrize("layers", ["first", "1,", "1 2", "-1", "all"])
def test_layers_that_cannot_be_read_are_refused(layers: str) -> None:
    with pytest.raises(ValidationError):
        Settings(impact_layers=layers)


def test_it_survives_the_way_to_the_engine(measured: Path) -> None:
    assert EngineConfig.from_json(config(measured).to_json()) == config(measured)
