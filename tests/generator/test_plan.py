import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from generator.fusion_request import Segment, SegmentKind
from generator.plan import LoadedSegment, fresh_positions, needs_scores
from generator.policy import Policy, PolicyName
from kvstore.key import Reading

NONE = Policy(PolicyName.NONE)
EXACT = Policy(PolicyName.EXACT)
SCORED = st.sampled_from([PolicyName.IMPACT, PolicyName.HKVD])
AMOUNTS = (None, None, 16, 1.0, 0.1)
SHARES = st.floats(0.001, 1)
GAP = 4


@st.composite
def contexts(draw: st.DrawFn) -> list[LoadedSegment]:
    """A preamble, then chunks with short texts between them, any of them loaded or missing."""
    kinds = [SegmentKind.PREAMBLE]
    for _ in range(draw(st.integers(0, 5))):
        kinds += [SegmentKind.TEXT] if len(kinds) > 1 and draw(st.booleans()) else []
        kinds.append(SegmentKind.CHUNK)
    at, segments = 0, []
    for kind in kinds:
        size = draw(st.integers(1, 40))
        reading = draw(st.sampled_from([None, *Reading]))
        if kind is not SegmentKind.CHUNK and reading is Reading.CONDITIONED:
            reading = Reading.OPENING
        segments.append(LoadedSegment(Segment(at, at + size, kind), reading))
        at += size
    return segments


def positions(segments: list[LoadedSegment], policy: Policy, start: int = 0, seed: int = 0) -> set[int]:
    end = segments[-1].segment.end
    return set(fresh_positions(segments, start, end, policy, scores_of(seed, end)).tolist())


def scores_of(seed: int, end: int) -> Tensor:
    """A few values only, so that equals are common, and some that are no numbers."""
    drawn = torch.randint(0, 5, (end,), generator=torch.Generator().manual_seed(seed)).to(torch.float32)
    return torch.where(drawn == 4, torch.nan, drawn)


def to_choose(segments: list[LoadedSegment]) -> set[int]:
    """What a scored policy may make fresh: loaded chunks that do not sit where they were read."""
    return positions(segments, EXACT) - positions(segments, Policy(PolicyName.HEAD, 0)) - untouched(segments)


def untouched(segments: list[LoadedSegment]) -> set[int]:
    """The preamble, and an opening chunk behind it: exact too where the preamble is made fresh."""
    return {at for loaded in segments[:2] if loaded.reading is Reading.OPENING for at in span(loaded)}


def span(loaded: LoadedSegment) -> set[int]:
    return set(range(loaded.segment.start, loaded.segment.end))


@given(
    contexts(),
    st.sampled_from([*(Policy(name, amount) for name, amount in zip(PolicyName, AMOUNTS, strict=True))]),
)
def test_what_was_not_loaded_is_always_fresh(segments: list[LoadedSegment], policy: Policy) -> None:
    fresh = positions(segments, policy)
    for loaded in segments:
        if loaded.reading is None:
            assert span(loaded) <= fresh


@given(contexts(), st.integers(0, 60))
def test_a_loaded_preamble_and_an_opening_first_chunk_are_never_fresh(segments: list[LoadedSegment], k: int) -> None:
    assert not untouched(segments) & positions(segments, Policy(PolicyName.HEAD, k))


@given(contexts(), st.integers(0, 60), st.integers(0, 60))
def test_more_head_tokens_only_add_positions(segments: list[LoadedSegment], one: int, other: int) -> None:
    fewer, more = sorted([one, other])
    assert positions(segments, Policy(PolicyName.HEAD, fewer)) <= positions(segments, Policy(PolicyName.HEAD, more))


@given(contexts())
def test_short_texts_between_chunks_are_fresh_except_under_none(segments: list[LoadedSegment]) -> None:
    texts = [loaded for loaded in segments if loaded.segment.kind is SegmentKind.TEXT]
    assert all(span(text) <= positions(segments, Policy(PolicyName.HEAD, 0)) for text in texts)
    assert not any(span(text) & positions(segments, NONE) for text in texts if text.reading is not None)


@given(contexts())
def test_none_computes_only_what_was_not_loaded(segments: list[LoadedSegment]) -> None:
    missing = (span(loaded) for loaded in segments if loaded.reading is None)
    assert positions(segments, NONE) == set().union(*missing)


@given(contexts(), st.integers(0, 100))
def test_positions_that_vllm_already_holds_are_never_touched(segments: list[LoadedSegment], start: int) -> None:
    start = min(start, segments[-1].segment.end)
    assert positions(segments, EXACT, start) == set(range(start, segments[-1].segment.end))
    assert all(position >= start for position in positions(segments, NONE, start))


@given(contexts(), st.integers(0, 40))
def test_positions_ascend_and_repeat_for_the_same_input(segments: list[LoadedSegment], k: int) -> None:
    end, policy = segments[-1].segment.end, Policy(PolicyName.HEAD, k)
    first = fresh_positions(segments, 0, end, policy).tolist()
    assert first == sorted(set(first))
    assert first == fresh_positions(segments, 0, end, policy).tolist()


def test_head_makes_the_first_tokens_of_each_later_chunk_fresh() -> None:
    segments = [
        LoadedSegment(Segment(0, 10, SegmentKind.PREAMBLE), Reading.OPENING),
        LoadedSegment(Segment(10, 30, SegmentKind.CHUNK), Reading.OPENING),
        LoadedSegment(Segment(30, 33, SegmentKind.TEXT), Reading.OPENING),
        LoadedSegment(Segment(33, 50, SegmentKind.CHUNK), Reading.OPENING),
        LoadedSegment(Segment(50, 52, SegmentKind.CHUNK), Reading.OPENING),
    ]
    assert positions(segments, Policy(PolicyName.HEAD, 4)) == {30, 31, 32, 33, 34, 35, 36, 50, 51}


def test_an_opening_first_chunk_is_exact_behind_a_preamble_that_is_made_fresh() -> None:
    segments = [
        LoadedSegment(Segment(0, 3, SegmentKind.PREAMBLE), None),
        LoadedSegment(Segment(3, 9, SegmentKind.CHUNK), Reading.OPENING),
    ]
    assert positions(segments, Policy(PolicyName.HEAD, 2)) == {0, 1, 2}
    assert not needs_scores(segments, 0)
    segments[1] = LoadedSegment(segments[1].segment, Reading.CONDITIONED)
    assert positions(segments, Policy(PolicyName.HEAD, 2)) == {0, 1, 2, 3, 4}


@given(contexts(), SCORED, SHARES, st.integers(0, 9))
def test_a_scored_policy_keeps_its_budget_and_nearly_uses_it(
    segments: list[LoadedSegment], name: PolicyName, share: float, seed: int
) -> None:
    chosen = positions(segments, Policy(name, share), seed=seed) - positions(segments, Policy(PolicyName.HEAD, 0))
    budget = math.ceil(round(share * len(to_choose(segments)), 6))
    assert chosen <= to_choose(segments)
    assert budget - 2 * GAP <= len(chosen) <= budget


@given(contexts(), SCORED, SHARES, st.integers(0, 9))
def test_a_scored_policy_never_touches_what_sits_where_it_was_read(
    segments: list[LoadedSegment], name: PolicyName, share: float, seed: int
) -> None:
    assert not positions(segments, Policy(name, share), seed=seed) & untouched(segments)


@given(contexts(), SCORED, SHARES, SHARES, st.integers(0, 9))
def test_a_larger_share_only_adds_positions(
    segments: list[LoadedSegment], name: PolicyName, one: float, other: float, seed: int
) -> None:
    fewer, more = sorted([one, other])
    assert positions(segments, Policy(name, fewer), seed=seed) <= positions(segments, Policy(name, more), seed=seed)


@given(contexts(), SCORED, st.integers(0, 9))
def test_share_1_leaves_nothing_that_could_differ_from_full_prefill(
    segments: list[LoadedSegment], name: PolicyName, seed: int
) -> None:
    assert positions(segments, Policy(name, 1.0), seed=seed) == positions(segments, EXACT) - untouched(segments)


ONE_CHUNK = [
    LoadedSegment(Segment(0, 5, SegmentKind.PREAMBLE), Reading.OPENING),
    LoadedSegment(Segment(5, 10, SegmentKind.CHUNK), Reading.OPENING),
    LoadedSegment(Segment(10, 12, SegmentKind.TEXT), Reading.OPENING),
    LoadedSegment(Segment(12, 112, SegmentKind.CHUNK), Reading.CONDITIONED),
]


def chosen_of(scores: dict[int, float], share: float, name: PolicyName = PolicyName.HKVD) -> set[int]:
    """Of the chunk of 100 tokens that starts at 12, whose number at 10 and 11 is fresh."""
    values = torch.zeros(112)
    for position, score in scores.items():
        values[position] = score
    return set(fresh_positions(ONE_CHUNK, 0, 112, Policy(name, share), values).tolist()) - {10, 11}


def test_small_gaps_are_filled_within_the_budget_and_large_ones_are_not() -> None:
    assert chosen_of({50: 3.0, 55: 2.0, 70: 1.0}, 0.07) == {50, 51, 52, 53, 54, 55, 70}
    assert chosen_of({50: 3.0, 56: 2.0, 70: 1.0}, 0.03) == {50, 56, 70}
    assert chosen_of({50: 3.0, 55: 2.0, 70: 1.0}, 0.05) == {50}


def test_every_fourth_token_of_impact_is_of_an_even_sample() -> None:
    best = {position: 200.0 - position for position in range(12, 32)}
    chosen = chosen_of(best, 0.2, PolicyName.IMPACT)
    assert len(chosen & set(range(12, 32))) >= 15
    outside = sorted(chosen - set(range(12, 32)))
    assert len(outside) >= 3
    edges = [31, *outside, 112]
    assert max(b - a for a, b in pairwise(edges)) <= 40


def test_a_gap_behind_a_fresh_number_is_filled_too() -> None:
    assert chosen_of({14: 3.0, 15: 2.0}, 0.04) == {12, 13, 14, 15}


def test_a_small_chunk_between_missing_ones_is_not_filled_beyond_the_budget() -> None:
    segments = [
        LoadedSegment(Segment(0, 1, SegmentKind.PREAMBLE), None),
        LoadedSegment(Segment(1, 3, SegmentKind.CHUNK), Reading.CONDITIONED),
        LoadedSegment(Segment(3, 4, SegmentKind.CHUNK), None),
    ]
    assert positions(segments, Policy(PolicyName.IMPACT, 0.5)) == {0, 3}
    assert positions(segments, Policy(PolicyName.IMPACT, 1.0)) == {0, 1, 2, 3}


def test_what_sits_where_it_was_read_fills_no_gap() -> None:
    segments = [ONE_CHUNK[0], LoadedSegment(Segment(5, 7, SegmentKind.CHUNK), Reading.OPENING)]
    segments += [LoadedSegment(Segment(7, 30, SegmentKind.CHUNK), Reading.CONDITIONED)]
    other = [segments[0], LoadedSegment(segments[1].segment, Reading.CONDITIONED), segments[2]]
    assert not {5, 6} & set(fresh_positions(segments, 0, 30, Policy(PolicyName.IMPACT, 0.2), torch.ones(30)).tolist())
    assert {5, 6} <= set(fresh_positions(other, 0, 30, Policy(PolicyName.IMPACT, 0.2), torch.ones(30)).tolist())


def test_a_scored_policy_without_scores_or_amount_is_an_error_of_ours() -> None:
    segments = [LoadedSegment(Segment(0, 9, SegmentKind.CHUNK), Reading.CONDITIONED)]
    with pytest.raises(ValueError, match="needs scores"):
        fresh_positions(segments, 0, 9, Policy(PolicyName.IMPACT), torch.zeros(9))
    with pytest.raises(ValueError, match="needs scores"):
        fresh_positions(segments, 0, 9, Policy(PolicyName.IMPACT, 0.1))
