import pytest

from app.core.settings import Settings
from generator.conditioning import Conditioning
from generator.in_force import effective_conditioning, effective_policy


@pytest.mark.parametrize("conditioning", list(Conditioning))
def test_what_is_set_is_in_force(conditioning: Conditioning) -> None:
    settings = Settings(conditioning=conditioning, policy="alone:none")
    assert (effective_policy(settings), effective_conditioning(settings)) == ("alone:none", conditioning)


def test_a_model_without_a_gate_result_has_a_policy_and_no_conditioning() -> None:
    settings = Settings()
    assert (effective_policy(settings), effective_conditioning(settings)) == ("head@16", Conditioning.OFF)
