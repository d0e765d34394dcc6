"""Chunks read behind a conditioning passage: what is captured, and which reading serves which place."""

import pytest
import torch
from fusion_rig import TENANT, Rig, random_ids, segments_of

from app.core.ids import new_id
from generator.fusion_request import FusionRequest, Segment, SegmentKind
from generator.preamble import Preamble
from generator.prompt import chunk_prompt, chunk_readings
from kvstore.chunk_kv import ChunkKV
from kvstore.key import Reading, ids_hash

PASSAGE = random_ids(90, 60)
SEPARATOR = [40, 41]


def furthest(found: ChunkKV, expected: ChunkKV) -> float:
    """The largest difference, as a share of the largest value, over all layers' keys and values."""
    pairs = [*zip(found.keys, expected.keys, strict=True), *zip(found.values, expected.values, strict=True)]
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in pairs)


def plainly_read(rig: Rig, before: list[int], chunk: list[int]) -> ChunkKV:
    """The chunk's KV of a run over all of `before`, of which nothing is in the store."""
    assert rig.capture([*before, *chunk], segments_of(before, chunk)) is None
    return rig.staged(before, chunk, Reading.OPENING)[1]


def prompt(preamble: list[int], *chunks: list[int], policy: str = "none") -> tuple[list[int], FusionRequest]:
    """A prompt over the chunks with two readings each."""
    ids, segments = list(preamble), [Segment(0, len(preamble), SegmentKind.PREAMBLE, (Reading.OPENING,))]
    for number, chunk in enumerate(chunks, start=1):
        pieces = [(SEPARATOR, SegmentKind.TEXT, (Reading.OPENING,))] if number > 1 else []
        for piece, kind, readings in [*pieces, (chunk, SegmentKind.CHUNK, chunk_readings(number, True))]:
            segments.append(Segment(len(ids), len(ids) + len(piece), kind, readings))
            ids += piece
    return [*ids, 50, 51, 52], FusionRequest(new_id("ask"), TENANT, policy, tuple(segments))


@pytest.fixture
def chunks() -> list[list[int]]:
    return [random_ids(seed, 90) for seed in (91, 92, 93)]


def test_a_conditioned_reading_is_the_chunks_own_part_of_a_run_over_preamble_passage_and_chunk(
    rig: Rig, preamble: list[int], chunks: list[list[int]]
) -> None:
    expected = plainly_read(rig, [*preamble, *PASSAGE], chunks[0])
    own = chunk_prompt(Preamble(tuple(preamble), ()), chunks[0], PASSAGE)
    assert rig.capture(own.token_ids, own.segments, Reading.CONDITIONED) is None
    identity, found = rig.staged(preamble, chunks[0], Reading.CONDITIONED)
    assert identity.conditioning_hash == ids_hash(PASSAGE)
    assert furthest(found, expected) < 1e-4
    assert furthest(plainly_read(rig, preamble, chunks[0]), expected) > 1e-2, "the passage makes a difference"


def test_a_passage_that_is_kept_is_not_computed_again(rig: Rig, preamble: list[int], chunks: list[list[int]]) -> None:
    rig.preread(preamble, PASSAGE)
    read = chunk_prompt(Preamble(tuple(preamble), ()), chunks[1], PASSAGE, passage_stored=True)
    request = FusionRequest(new_id("pre"), TENANT, "none", read.segments, Reading.CONDITIONED)
    report = rig.fused(read.token_ids, request).report
    assert report is not None
    assert (report.reused_tokens, report.fresh_tokens) == (len(preamble) + len(PASSAGE), len(chunks[1]))
    rig.exact([5, 6, 7])
    found = rig.staged(preamble, chunks[1], Reading.CONDITIONED)[1]
    assert furthest(found, plainly_read(rig, [*preamble, *PASSAGE], chunks[1])) < 1e-3


def test_the_first_chunk_takes_its_opening_reading_and_every_other_its_conditioned_one(
    rig: Rig, preamble: list[int], chunks: list[list[int]]
) -> None:
    rig.preread(preamble, chunks[0], chunks[1], SEPARATOR)
    rig.preread_behind(preamble, PASSAGE, *chunks)
    report = rig.fused(*prompt(preamble, *chunks)).report
    assert report is not None
    assert [chunk.reading for chunk in report.chunks] == ["opening", "conditioned", "conditioned"]
    assert report.fresh_tokens == 0
    report = rig.fused(*prompt(preamble, chunks[2], chunks[0])).report
    assert report is not None
    assert [chunk.reading for chunk in report.chunks] == ["conditioned", "conditioned"], "it has no opening reading"


def test_a_later_chunk_without_a_conditioned_reading_is_fresh(rig: Rig, preamble: list[int]) -> None:
    first, later = random_ids(94, 50), random_ids(95, 50)
    rig.preread(preamble, first, later)
    report = rig.fused(*prompt(preamble, first, later)).report
    assert report is not None
    assert [(chunk.reading, chunk.reason) for chunk in report.chunks] == [("opening", None), (None, "absent")]


def test_with_every_token_fresh_conditioned_readings_leave_no_trace(
    rig: Rig, preamble: list[int], chunks: list[list[int]]
) -> None:
    rig.preread(preamble, SEPARATOR)
    rig.preread_behind(preamble, PASSAGE, *chunks)
    ids, request = prompt(preamble, *chunks, policy="head@90")
    fused, exact = rig.fused(ids, request), rig.exact(ids)
    assert torch.allclose(fused.logprobs, exact.logprobs, atol=1e-3)
    ids, request = prompt(preamble, *chunks, policy="none")
    assert not torch.allclose(rig.fused(ids, request).logprobs, exact.logprobs, atol=1e-3)
