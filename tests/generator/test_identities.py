import pytest

from generator.fusion_request import FusionRequest, Segment, SegmentKind
from generator.identity import capture_identity, chunk_identity, segment_identities
from kvstore.key import Reading, ids_hash

FINGERPRINT = "ab" * 32
PREAMBLE, PASSAGE, CHUNK = [1, 2, 3], [4, 5], [6, 7, 8]
IDS = [*PREAMBLE, *PASSAGE, *CHUNK]
SEGMENTS = (
    Segment(0, 3, SegmentKind.PREAMBLE, (Reading.OPENING,)),
    Segment(3, 5, SegmentKind.TEXT),
    Segment(5, 8, SegmentKind.CHUNK, (Reading.CONDITIONED,)),
)


def request(capture: Reading | None) -> FusionRequest:
    return FusionRequest("ask_1", "default", "none", SEGMENTS, capture)


def test_a_captured_conditioned_reading_states_the_passage_it_was_read_behind() -> None:
    captured = capture_identity(request(Reading.CONDITIONED), IDS, FINGERPRINT)
    assert captured == chunk_identity(FINGERPRINT, PREAMBLE, CHUNK, Reading.CONDITIONED, PASSAGE)
    assert captured.conditioning_hash == ids_hash(PASSAGE)


def test_a_prompt_takes_a_conditioned_reading_behind_whatever_passage() -> None:
    wanted = segment_identities(request(None), IDS, FINGERPRINT)[2][0]
    for passage in (PASSAGE, [9]):
        chunk_identity(FINGERPRINT, PREAMBLE, CHUNK, Reading.CONDITIONED, passage).check(wanted)


def test_the_two_readings_of_a_chunk_have_two_names() -> None:
    keys = {chunk_identity(FINGERPRINT, PREAMBLE, CHUNK, reading).key for reading in Reading}
    assert len(keys) == 2


def test_a_request_without_capture_has_nothing_to_capture() -> None:
    with pytest.raises(ValueError, match="captures nothing"):
        capture_identity(request(None), IDS, FINGERPRINT)
