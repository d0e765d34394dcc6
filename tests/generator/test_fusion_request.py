from typing import Any

import pytest

from generator.errors import BadFusionRequest
from generator.fusion_request import FIELD, FusionRequest, Segment, SegmentKind
from kvstore.key import Reading

REQUEST = FusionRequest(
    request_id="ask_1",
    tenant="default",
    policy="head@16",
    segments=(
        Segment(0, 5, SegmentKind.PREAMBLE, (Reading.OPENING,)),
        Segment(5, 9, SegmentKind.CHUNK, (Reading.CONDITIONED, Reading.OPENING)),
        Segment(9, 11, SegmentKind.TEXT),
    ),
    capture=Reading.OPENING,
    nested=True,
    impact_layers=(4, 9),
)


def test_a_request_survives_the_way_to_the_engine() -> None:
    assert FusionRequest.from_params(REQUEST.to_params()) == REQUEST


def test_parameters_of_other_connectors_are_none_of_ours() -> None:
    assert FusionRequest.from_params({"do_remote_decode": True}) is None
    assert FusionRequest.from_params(None) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("segments", [[0, 5, "preamble", []], [6, 9, "chunk", []]]),
        ("segments", [[1, 5, "preamble", []]]),
        ("segments", [[0, 0, "preamble", []]]),
        ("segments", [[0, 5, "prologue", []]]),
        ("segments", [[0, 5, "chunk", ["backwards"]]]),
        ("segments", [[0, 5]]),
        ("segments", None),
        ("segments", []),
        ("segments", [[0, float("inf"), "chunk", []]]),
        ("impact_layers", ["middle"]),
        ("impact_layers", 3),
        ("capture", "sideways"),
        ("request_id", "../../etc/passwd"),
        ("request_id", ""),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(field: str, value: Any) -> None:
    params = REQUEST.to_params()
    params[FIELD][field] = value
    with pytest.raises(BadFusionRequest):
        FusionRequest.from_params(params)


def test_a_missing_field_is_refused() -> None:
    params = REQUEST.to_params()
    del params[FIELD]["tenant"]
    with pytest.raises(BadFusionRequest, match="tenant"):
        FusionRequest.from_params(params)
