"""`GET /status` tells what the policy in force rests on."""

from dataclasses import replace

import pytest
from web_harness import TENANT

from app.web.system import System
from generator.conditioning import Conditioning
from generator.gate import GateResult, gate_path, save_gate

FINGERPRINT = "ef" * 32


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


@pytest.fixture
def system(web, state):
    """The service with a state folder of this test's own, and a model that no result ships for."""
    settings = web.services.settings.model_copy(update={"state_dir": state})
    return System(replace(web.services, settings=settings, fingerprint=FINGERPRINT), TENANT)


def test_a_model_that_was_never_measured_runs_conservatively_and_says_so(system):
    assert system.status().gate.startswith("no gate result for this model: conservative default")


def test_what_was_measured_is_in_force_and_told(system, state):
    result = GateResult(FINGERPRINT, "impact@.08", Conditioning.NEUTRAL, 0.05, 512, {"data": "musique"})
    save_gate(gate_path(state, FINGERPRINT), result)
    status = system.status()
    assert status.gate == "impact@.08, conditioning neutral, chunks of 512 tokens; measured on musique"
    assert (status.policy, status.conditioning) == ("impact@.08", "neutral")


def test_a_result_that_met_no_bound_says_so(system, state):
    measured = {"data": "musique", "within_bound": False}
    save_gate(gate_path(state, FINGERPRINT), GateResult(FINGERPRINT, "none", Conditioning.OFF, 0, 512, measured))
    assert system.status().gate.endswith("measured on musique: the nearest, nothing was within the bound")


def test_a_result_that_cannot_be_used_is_as_good_as_none(system, state):
    path = gate_path(state, FINGERPRINT)
    path.parent.mkdir(parents=True)
    path.write_text("{")
    assert system.status().gate.startswith("no gate result for this model: conservative default")
