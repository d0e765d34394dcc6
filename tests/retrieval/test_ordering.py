from hypothesis import given
from hypothesis import strategies as st

from retrieval.ordering import prefer_first
from retrieval.search import Passage

SCORES = st.lists(st.floats(-1, 1), max_size=8).map(lambda scores: sorted(scores, reverse=True))
SUITED = st.sets(st.sampled_from([str(n) for n in range(8)]))


def passages(scores: list[float]) -> list[Passage]:
    return [
        Passage(n, str(n - 1), "doc", "title", "name", None, None, 0, 1, "text", [1], score)
        for n, score in enumerate(scores, start=1)
    ]


def order(found: list[Passage]) -> list[str]:
    return [passage.chunk_id for passage in found]


def test_a_passage_that_suits_and_is_nearly_as_good_comes_first_and_the_others_keep_their_order() -> None:
    assert order(prefer_first(passages([0.9, 0.88, 0.87, 0.5]), {"2", "3"}, 0.05)) == ["2", "0", "1", "3"]


def test_a_passage_that_suits_but_is_much_worse_stays_where_it_is() -> None:
    assert order(prefer_first(passages([0.9, 0.8]), {"1"}, 0.05)) == ["0", "1"]


def test_the_best_stays_first_when_it_suits_itself() -> None:
    assert order(prefer_first(passages([0.9, 0.9]), {"0", "1"}, 0.05)) == ["0", "1"]


def test_no_passages_have_no_order() -> None:
    assert prefer_first([], {"1"}, 0.5) == []


@given(SCORES, SUITED, st.floats(0, 2))
def test_no_passage_is_lost_and_the_numbers_follow_the_order(
    scores: list[float], suited: set[str], margin: float
) -> None:
    found = prefer_first(passages(scores), suited, margin)
    assert sorted(order(found)) == sorted(order(passages(scores)))
    assert [passage.n for passage in found] == list(range(1, len(scores) + 1))


@given(SCORES, SUITED, st.floats(0, 2))
def test_what_comes_first_is_within_the_margin_and_the_rest_stays_best_first(
    scores: list[float], suited: set[str], margin: float
) -> None:
    found = prefer_first(passages(scores), suited, margin)
    assert all(passage.score >= scores[0] - margin for passage in found[:1])
    assert [passage.score for passage in found[1:]] == sorted((p.score for p in found[1:]), reverse=True)
