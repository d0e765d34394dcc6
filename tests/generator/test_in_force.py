from pathlib import Path

import pytest
from profile_samples import FINGERPRINT as PROFILED
from profile_samples import make_profile

from app.core.settings import Settings
from generator.conditioning import Conditioning
from generator.gate import GateResult, conservative, gate_path, save_gate
from generator.in_force import effective_codec, effective_conditioning, effective_policy
from kvstore.codecs.codecs import LOSSLESS, Codecs
from kvstore.errors import BadName, BadProfile
from kvstore.profile_file import write_profile
from kvstore.profiles import Profiles

FINGERPRINT = "ab" * 32


@pytest.fixture
def gated(tmp_path: Path) -> Path:
    """A state folder with a gate result for the model."""
    result = GateResult(FINGERPRINT, "impact@.08", Conditioning.NEUTRAL, 0.05, 512, {"data": "made up"})
    save_gate(gate_path(tmp_path, FINGERPRINT), result)
    return tmp_path


@pytest.mark.parametrize("conditioning", list(Conditioning))
def test_what_is_set_is_in_force_whatever_the_gate_chose(gated: Path, conditioning: Conditioning) -> None:
    settings = Settings(state_dir=gated, conditioning=conditioning, policy="alone:none")
    assert effective_policy(settings, FINGERPRINT) == "alone:none"
    assert effective_conditioning(settings, FINGERPRINT) is conditioning


def test_what_is_not_set_is_the_gates_choice(gated: Path) -> None:
    settings = Settings(state_dir=gated)
    assert effective_policy(settings, FINGERPRINT) == "impact@.08"
    assert effective_conditioning(settings, FINGERPRINT) is Conditioning.NEUTRAL


def test_a_model_without_a_gate_result_runs_conservatively(gated: Path) -> None:
    settings = Settings(state_dir=gated)
    assert effective_policy(settings, "cd" * 32) == conservative().policy
    assert effective_conditioning(settings, "cd" * 32) is Conditioning.OFF


def test_chunk_kv_is_stored_with_default_where_the_model_has_a_profile_and_else_losslessly(tmp_path: Path) -> None:
    codecs = Codecs(Profiles([tmp_path]))
    settings = Settings(_env_file=None, state_dir=tmp_path)
    assert effective_codec(settings, PROFILED, codecs) is LOSSLESS
    write_profile(tmp_path, make_profile())
    assert effective_codec(settings, PROFILED, codecs).name == "default"
    assert effective_codec(settings, FINGERPRINT, codecs) is LOSSLESS


def test_a_preset_that_is_set_is_in_force_or_an_error(tmp_path: Path) -> None:
    codecs = Codecs(Profiles([tmp_path]))
    settings = Settings(_env_file=None, state_dir=tmp_path, kv_preset="kivi4")
    assert effective_codec(settings, FINGERPRINT, codecs).name == "kivi4"
    with pytest.raises(BadProfile):
        effective_codec(settings.model_copy(update={"kv_preset": "default"}), FINGERPRINT, codecs)
    with pytest.raises(BadName):
        effective_codec(settings.model_copy(update={"kv_preset": "zip"}), FINGERPRINT, codecs)
