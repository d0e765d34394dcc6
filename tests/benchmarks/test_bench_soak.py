"""What a soak asks, how it pins hits, and how it judges what it found."""

from math import log
from typing import Any

import numpy as np
import pytest

from benchmarks.soak import MOST_GROWN, checks, figures
from benchmarks.soak_alone import apart
from benchmarks.soak_engine import gauge, page_tokens
from benchmarks.soak_traffic import Answered
from benchmarks.soak_turns import POLICIES, Turn, pinned, turns, without_numbers
from generator.errors import EngineFailed
from generator.fusion_request import Segment, SegmentKind
from generator.prompt import Prompt
from generator.report import ChunkOutcome, FusionReport
from kvstore.key import Reading

OPENING = (Reading.OPENING,)
SEGMENTS = (
    Segment(0, 10, SegmentKind.PREAMBLE, OPENING),
    Segment(10, 20, SegmentKind.CHUNK, OPENING),
    Segment(20, 22, SegmentKind.TEXT, OPENING),
    Segment(22, 30, SegmentKind.CHUNK, OPENING),
)
METRICS = """# HELP vllm:num_requests_running Number of requests
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_running{engine="1",model_name="m"} 1.0
vllm:num_requests_running_total{engine="0"} 9.0
vllm:cache_config_info{block_size="128",engine="0",mamba_block_size="16",num_gpu_blocks="40"} 1.0
"""


def answered(policy: str, *outcomes: ChunkOutcome) -> Answered:
    report = FusionReport("soak_1", policy, 30, chunks=outcomes)
    return Answered(Turn((4, 2), policy, 1, None), Prompt([1], SEGMENTS), np.zeros(2, np.float32), report)


def held(**changes: Any) -> dict[str, Any]:
    idle = {"running": 0.0, "waiting": 0.0, "kv_cache_usage": 0.0, "rss_bytes": 100, "staged": []}
    return {"bound": 1e-4, "largest_difference": 1e-5, "deleted_hits": 0, "warm": idle, "end": idle | changes}


def test_the_same_seed_asks_the_same_and_every_policy_gets_its_turn() -> None:
    one = turns(3, 70, pool=16, chunks=3)
    assert one == turns(3, 70, pool=16, chunks=3)
    assert one != turns(4, 70, pool=16, chunks=3)
    assert {turn.policy for turn in one} == set(POLICIES)
    assert {len(turn.places) for turn in one} == {1, 2, 3}
    assert 0 < sum(turn.patience_s is not None for turn in one) < 35


def test_nested_is_exact_through_the_recompute_forward() -> None:
    request = Turn((0,), "nested", 1, None).request("soak_1", "bench", SEGMENTS)
    assert (request.policy, request.nested) == ("exact", True)
    assert not Turn((0,), "none", 1, None).request("soak_1", "bench", SEGMENTS).nested


def test_pinned_segments_look_only_for_what_was_found() -> None:
    plain = without_numbers(SEGMENTS)
    assert [segment.readings for segment in plain] == [OPENING, OPENING, (), OPENING]
    found = pinned(plain, [False, True], preamble=True)
    assert [segment.readings for segment in found] == [OPENING, (), (), OPENING]
    assert pinned(plain, [False, False], preamble=False)[0].readings == ()


def test_only_chunk_kv_out_of_the_store_is_a_hit() -> None:
    found = answered("exact", ChunkOutcome(0, 10, tier="prefix"), ChunkOutcome(1, 8, tier="disk", reading="opening"))
    assert found.hits == [False, True]
    assert found.found == (2,)


def test_figures_count_outcomes_and_keep_the_largest_difference_of_each_policy() -> None:
    hit, miss = ChunkOutcome(0, 10, tier="memory", reading="opening"), ChunkOutcome(1, 8, reason="absent")
    found = figures(
        {"aborted": 2, "deleted": 5},
        [(answered("none", hit, miss), 1e-6), (answered("none", hit, hit), 3e-6), (answered("head@8", miss, miss), 0)],
    )
    assert (found["answered"], found["aborted"], found["deleted"]) == (3, 2, 5)
    assert (found["hits"], found["misses"]) == ({"memory": 3}, {"absent": 3})
    assert found["largest_difference"] == 3e-6
    assert found["largest_by_policy"] == {"none": 3e-6, "head@8": 0}


def test_a_soak_that_left_nothing_behind_holds() -> None:
    assert all(checks(held()).values())


@pytest.mark.parametrize(
    ("check", "result"),
    [
        ("answers_equal", held() | {"largest_difference": 2e-4}),
        ("answers_equal", held() | {"largest_difference": None}),
        ("deleted_is_gone", held() | {"deleted_hits": 1}),
        ("requests_gone", held(waiting=1.0)),
        ("requests_gone", held(kv_cache_usage=0.01)),
        ("staging_empty", held(staged=["left.safetensors"])),
        ("memory_kept", held(rss_bytes=MOST_GROWN + 101)),
    ],
)
def test_each_check_fails_for_its_own_reason(check: str, result: dict[str, Any]) -> None:
    assert [name for name, holds in checks(result).items() if not holds] == [check]


def test_gauges_are_summed_over_labels_and_a_missing_one_is_an_error() -> None:
    assert gauge(METRICS, "vllm:num_requests_running") == 3
    assert page_tokens(METRICS) == 40 * 128
    with pytest.raises(EngineFailed):
        gauge(METRICS, "vllm:num_requests_waiting")
    with pytest.raises(EngineFailed):
        page_tokens("")


def test_a_difference_is_one_of_probabilities() -> None:
    one = np.array([log(0.5), log(0.5)], np.float32)
    other = np.array([log(0.75), log(0.25)], np.float32)
    assert apart(one, other) == pytest.approx(0.25)
