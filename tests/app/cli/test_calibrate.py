"""`preread calibrate`, and what `preread doctor` says of its result."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.checks.finding import Level
from app.cli.checks.profile import check_profile
from app.cli.main import cli
from app.core.errors import PrereadError
from app.core.settings import Settings, get_settings
from generator.fingerprint import model_fingerprint
from generator.model_source import resolve_model
from kvstore.codecs.codecs import Codecs
from kvstore.profiles import Profiles

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """An empty state folder beside the packaged model."""
    monkeypatch.setenv("PREREAD_STATE_DIR", str(tmp_path / "state"))
    get_settings.cache_clear()
    yield get_settings()
    get_settings.cache_clear()


def calibrate(*arguments: str):
    return CliRunner().invoke(cli, ["calibrate", *arguments], catch_exceptions=True)


def test_a_profile_is_made_from_the_users_own_text_and_is_then_in_force(packaged: Settings) -> None:
    result = calibrate(str(HANDBOOK), "--tokens", "2048", "--presets", "default", "--json")
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert made["presets"] == ["default"]
    assert Path(made["path"]).parent == packaged.profiles_dir
    folder = resolve_model(packaged)
    for dtype in ("bfloat16", "float16", "float32"):
        codec = Codecs(Profiles([packaged.profiles_dir])).to_write("default", model_fingerprint(folder, dtype))
        assert codec.profile_id == made["profile"]
    finding = check_profile(packaged)
    assert finding.level is Level.OK
    assert made["profile"] in finding.message


def test_too_little_text_is_refused(packaged: Settings, tmp_path: Path) -> None:
    short = tmp_path / "short.md"
    short.write_text("Only a line.")
    result = calibrate(str(short))
    assert isinstance(result.exception, PrereadError)
    assert result.exception.code == "too_little_text"
    assert not packaged.profiles_dir.exists()


def test_an_unknown_preset_is_refused_before_anything_is_read(packaged: Settings) -> None:
    result = calibrate("--presets", "default,zip")
    assert isinstance(result.exception, PrereadError)
    assert result.exception.code == "bad_key"


@pytest.fixture
def unknown_model(settings: Settings, tmp_path: Path) -> Settings:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    return settings.model_copy(update={"model": str(folder)})


def test_a_model_without_a_profile_is_a_warning_that_names_the_command(unknown_model: Settings) -> None:
    finding = check_profile(unknown_model)
    assert finding.level is Level.WARN
    assert "preread calibrate" in finding.hint


def test_a_preset_that_was_chosen_is_well_or_a_failure(unknown_model: Settings) -> None:
    chosen = unknown_model.model_copy(update={"kv_preset": "kivi4"})
    assert check_profile(chosen).level is Level.OK
    for name in ("default", "zip"):
        finding = check_profile(unknown_model.model_copy(update={"kv_preset": name}))
        assert finding.level is Level.FAIL
        assert finding.hint
