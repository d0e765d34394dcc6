"""`GET /status` tells what the policy in force rests on."""

from dataclasses import replace

import pytest

from app.web.system import System
from generator.conditioning import Conditioning
from generator.gate import GateResult, gate_path, save_gate


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


@pytest.fixture
def system(web, state):
    """The service with a state folder of this test's own."""
    return System(replace(web.services, settings=web.services.settings.model_copy(update={"state_dir": state})))


def test_a_model_that_was_never_measured_runs_conservatively_and_says_so(web):
    assert web.client.get("/status").json()["gate"].startswith("no gate result for this model: conservative default")


def test_what_was_measured_is_in_force_and_told(system, web, state):
    fingerprint = web.services.fingerprint
    result = GateResult(fingerprint, "impact@.08", Conditioning.NEUTRAL, 0.05, 512, {"data": "musique"})
    save_gate(gate_path(state, fingerprint), result)
    status = system.status()
    assert status.gate == "impact@.08, conditioning neutral, chunks of 512 tokens; measured on musique"
    assert (status.policy, status.conditioning) == ("impact@.08", "neutral")


def test_a_result_that_cannot_be_used_is_as_good_as_none(system, web, state):
    path = gate_path(state, web.services.fingerprint)
    path.parent.mkdir(parents=True)
    path.write_text("{")
    assert system.status().gate.startswith("no gate result for this model: conservative default")
