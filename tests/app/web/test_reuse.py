"""What one answer reused, loaded and measured."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.core.catalog import ReadingRecord, ReadingState, Reuse
from app.web.reuse import reuse_of
from generator.report import ChunkOutcome, FusionReport

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READING = ReadingRecord(
    tenant="t",
    key="k" * 64,
    ids_hash="i" * 64,
    model_fingerprint="m" * 64,
    preamble_hash="p" * 64,
    conditioning_hash="",
    profile_id="",
    reading="opening",
    state=ReadingState.READY,
    n_tokens=500,
    bytes=2_000,
    error=None,
    created_at=NOW,
    updated_at=NOW,
    bytes_in_16_bits=11_000,
)
HIT, MISS = ChunkOutcome(0, 500, tier="disk"), ChunkOutcome(1, 500, reason="absent")
REPORT = FusionReport("ask_1", "impact", 1100, 900, 100, 100, load_s=0.2, recompute_s=0.3, chunks=(MISS, HIT))


def test_an_answer_reuses_loads_and_measures():
    assert reuse_of(REPORT, 1130, [READING, READING]) == Reuse(
        reused_tokens=900,
        fresh_tokens=100,
        load_seconds=0.2,
        loaded_bytes=4_000,
        loaded_bytes_in_16_bits=22_000,
        timed_tokens=130,
        timed_seconds=0.3,
    )


def test_what_is_not_known_in_16_bits_is_left_out_on_both_sides():
    reuse = reuse_of(REPORT, 1130, [READING, replace(READING, bytes_in_16_bits=None)])
    assert (reuse.loaded_bytes, reuse.loaded_bytes_in_16_bits) == (2_000, 11_000)


@pytest.mark.parametrize(
    "report",
    [
        replace(REPORT, chunks=(HIT, MISS)),
        replace(REPORT, chunks=()),
        replace(REPORT, reused_tokens=937, fresh_tokens=63),
    ],
    ids=["the last chunk was left to vLLM", "no chunk", "hardly anything was fresh"],
)
def test_what_says_little_of_a_tokens_time_is_not_measured(report):
    reuse = reuse_of(report, 1130, [])
    assert (reuse.timed_tokens, reuse.timed_seconds) == (0, 0.0)
    assert reuse.reused_tokens == report.reused_tokens
