"""How much of a prompt vLLM is promised, and what that will cost."""

from hypothesis import given
from hypothesis import strategies as st

from generator.fusion_request import FusionRequest, Segment, SegmentKind
from generator.policy import parse_policy
from generator.promise import Promise, promised
from kvstore.key import Reading
from kvstore.reasons import StoreMiss

ABSENT = StoreMiss.ABSENT
QUESTION = 20
SEGMENTS = (
    Segment(0, 10, SegmentKind.PREAMBLE),
    Segment(10, 110, SegmentKind.CHUNK),
    Segment(110, 113, SegmentKind.TEXT),
    Segment(113, 213, SegmentKind.CHUNK),
    Segment(213, 216, SegmentKind.TEXT),
    Segment(216, 616, SegmentKind.CHUNK),
)
MISSED = st.lists(st.sampled_from([None, ABSENT]), min_size=6, max_size=6)
POLICIES = st.sampled_from(["none", "head@16", "impact", "impact@.08", "hkvd@1"])


def promise(missed: list[StoreMiss | None], policy: str, *, nested: bool = False, capture: bool = False) -> Promise:
    request = FusionRequest("ask", "tests", policy, SEGMENTS, Reading.CONDITIONED if capture else None, nested)
    return promised(request, parse_policy(policy), 616 + QUESTION, missed, 0.15)


def test_with_all_chunks_there_none_needs_no_forward_and_leaves_the_question_to_vllm() -> None:
    assert promise([None] * 6, "none") == Promise((None,) * 6, 616, 0)


def test_where_tokens_are_computed_the_question_goes_along() -> None:
    assert promise([None] * 6, "head@16") == Promise((None,) * 6, 616 + QUESTION, 48)
    assert promise([None] * 6, "impact@.5").fresh_tokens == 318


def test_a_policy_without_an_amount_is_expected_to_take_the_given_share() -> None:
    assert promise([None] * 6, "impact") == promise([None] * 6, "impact@.15")


def test_a_missing_chunk_in_the_middle_is_filled_and_counted() -> None:
    found = promise([None, None, None, ABSENT, None, None], "none")
    assert (found.end, found.fresh_tokens) == (616 + QUESTION, 100)


def test_a_long_missing_end_is_left_to_vllm() -> None:
    found = promise([None, None, None, None, None, ABSENT], "head@16")
    assert found.end == 213


def test_a_number_before_a_missing_chunk_is_not_worth_a_load() -> None:
    assert promise([None, ABSENT, None, ABSENT, ABSENT, ABSENT], "none").end == 10


def test_the_passage_that_a_chunk_is_pre_read_behind_is_worth_one() -> None:
    assert promise([None, ABSENT, None, ABSENT, ABSENT, ABSENT], "none", capture=True).end == 113


def test_one_chunk_alone_needs_no_forward() -> None:
    assert promise([None, None, ABSENT, ABSENT, ABSENT, ABSENT], "impact@.08").end == 110


def test_nested_makes_the_whole_context_fresh_whatever_there_is() -> None:
    found = promise([ABSENT] * 6, "exact", nested=True)
    assert (found.end, found.fresh_tokens) == (616 + QUESTION, 616)


@given(MISSED, POLICIES)
def test_nothing_is_promised_where_nothing_is_there_and_never_more_than_the_prompt(
    missed: list[StoreMiss | None], policy: str
) -> None:
    found = promise(missed, policy)
    assert 0 <= found.end <= 616 + QUESTION
    assert 0 <= found.fresh_tokens <= 616 + QUESTION
    chunks = [miss for segment, miss in zip(SEGMENTS, missed, strict=True) if segment.kind is not SegmentKind.TEXT]
    assert (found.end == 0) == all(miss is not None for miss in chunks)
