"""A question beside the one before it."""

from retrieval.follow_up import retrieve_follow_up
from retrieval.search import Passage

LEAVE, TRAVEL, CONTRACTORS = "leave", "travel", "contractors"
PREVIOUS = "How many days of leave are there?"


def passage(n: int, name: str) -> Passage:
    return Passage(n, f"chk_{name}", f"doc_{name}", name, name, None, None, 0, 1, name, [1], 0.5)


def found(**lists: list[str]):
    """A search that gives these lists: `alone` for the question, `together` where the previous one is beside it."""

    def retrieve(question: str) -> list[Passage]:
        names = lists.get("together" if question.startswith(PREVIOUS) else "alone", [])
        return [passage(n, name) for n, name in enumerate(names, start=1)]

    return retrieve


def names(question: str, previous: str | None = PREVIOUS, top_k: int = 3, **lists: list[str]) -> list[str]:
    passages = retrieve_follow_up(found(**lists), question, previous, top_k)
    assert [each.n for each in passages] == list(range(1, len(passages) + 1))
    return [each.title for each in passages]


def test_a_first_question_is_searched_alone():
    assert names("And for contractors?", None, alone=[CONTRACTORS], together=[LEAVE]) == [CONTRACTORS]


def test_a_follow_up_gets_what_both_questions_are_about():
    assert names("And for contractors?", alone=[CONTRACTORS, TRAVEL], together=[LEAVE, CONTRACTORS]) == [
        *(CONTRACTORS, LEAVE, TRAVEL)
    ]


def test_a_follow_up_that_finds_nothing_by_itself_is_found_with_the_question_before():
    assert names("And for how long?", alone=[], together=[LEAVE]) == [LEAVE]


def test_a_new_subject_keeps_its_best_passage_in_first_place():
    assert names("What is the travel meal allowance?", alone=[TRAVEL], together=[LEAVE, TRAVEL])[0] == TRAVEL
    assert names("What is the travel meal allowance?", alone=[TRAVEL, "a", "b"], together=[LEAVE])[0] == TRAVEL


def test_a_new_subject_that_is_in_no_document_stays_without_an_answer():
    assert names("Which zebra won the quantum chess tournament?", alone=[], together=[LEAVE]) == []


def test_no_more_passages_than_wanted_and_none_twice():
    assert names("And contractors?", top_k=2, alone=["a", "b"], together=["b", "c"]) == ["b", "a"]


def test_nothing_found_is_nothing():
    assert names("And then?", alone=[], together=[]) == []
