from hypothesis import given
from hypothesis import strategies as st

from generator.fusion_request import Segment, SegmentKind
from generator.plan import LoadedSegment, fresh_positions
from generator.policy import Policy, PolicyName
from kvstore.key import Reading

NONE = Policy(PolicyName.NONE)
EXACT = Policy(PolicyName.EXACT)


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


def positions(segments: list[LoadedSegment], policy: Policy, start: int = 0) -> set[int]:
    return set(fresh_positions(segments, start, segments[-1].segment.end, policy).tolist())


def span(loaded: LoadedSegment) -> set[int]:
    return set(range(loaded.segment.start, loaded.segment.end))


@given(contexts(), st.sampled_from([NONE, Policy(PolicyName.HEAD, 16), EXACT]))
def test_what_was_not_loaded_is_always_fresh(segments: list[LoadedSegment], policy: Policy) -> None:
    fresh = positions(segments, policy)
    for loaded in segments:
        if loaded.reading is None:
            assert span(loaded) <= fresh


@given(contexts(), st.integers(0, 60))
def test_a_loaded_preamble_and_an_opening_first_chunk_are_never_fresh(segments: list[LoadedSegment], k: int) -> None:
    fresh = positions(segments, Policy(PolicyName.HEAD, k))
    if segments[0].reading is not None:
        assert not span(segments[0]) & fresh
        if len(segments) > 1 and segments[1].reading is Reading.OPENING:
            assert not span(segments[1]) & fresh


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


def test_a_first_chunk_behind_a_missing_preamble_is_treated_like_the_others() -> None:
    segments = [
        LoadedSegment(Segment(0, 3, SegmentKind.PREAMBLE), None),
        LoadedSegment(Segment(3, 9, SegmentKind.CHUNK), Reading.OPENING),
    ]
    assert positions(segments, Policy(PolicyName.HEAD, 2)) == {0, 1, 2, 3, 4}
