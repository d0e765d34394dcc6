"""Answers that were given, and what their owners thought of them."""

from datetime import timedelta

import pytest
from catalog_rig import TENANT, Clock

from app.core.catalog import AnswerNotFound, Catalog, FeedbackReason, GivenAnswer, Rating

ANN, BOB = "usr_ann", "usr_bob"
DAY = 24 * 3600


@pytest.fixture
def answer(catalog: Catalog, clock: Clock):
    def answer(n: int, question: str | None = None) -> str:
        given = GivenAnswer(f"req_{n}", TENANT, ANN, None, "answered", "impact@.08", clock(), 12.5, question)
        catalog.record_answer(given)
        assert catalog.given_answer(TENANT, given.request_id) == given
        return given.request_id

    return answer


def test_the_last_word_counts(catalog: Catalog, clock: Clock, answer):
    request_id = answer(1)
    catalog.give_feedback(TENANT, ANN, request_id, Rating.DOWN, FeedbackReason.WRONG, "It is 28.")
    clock.advance(5)
    catalog.give_feedback(TENANT, ANN, request_id, Rating.UP, None, None)
    page = catalog.feedback(TENANT)
    assert page.counts == {Rating.UP: 1, Rating.DOWN: 0}
    (kept,) = page.items
    assert (kept.rating, kept.reason, kept.comment, kept.rated_at) == (Rating.UP, None, None, clock())


@pytest.mark.parametrize(
    ("tenant", "owner", "request_id"), [(TENANT, BOB, "req_1"), ("other", ANN, "req_1"), (TENANT, ANN, "req_2")]
)
def test_only_who_asked_can_say_what_an_answer_was_worth(catalog: Catalog, answer, tenant, owner, request_id):
    answer(1)
    with pytest.raises(AnswerNotFound):
        catalog.give_feedback(tenant, owner, request_id, Rating.UP, None, None)
    assert catalog.feedback(TENANT).total == 0


def test_pages_are_newest_first_by_rating_and_of_one_tenant(catalog: Catalog, clock: Clock, answer):
    for n in range(5):
        clock.advance(1)
        rating = Rating.UP if n % 2 else Rating.DOWN
        catalog.give_feedback(TENANT, ANN, answer(n), rating, None, None)
    page = catalog.feedback(TENANT, 2, 1)
    assert ([each.request_id for each in page.items], page.total) == (["req_3", "req_2"], 5)
    down = catalog.feedback(TENANT, 10, 0, Rating.DOWN)
    assert ([each.request_id for each in down.items], down.total) == (["req_4", "req_2", "req_0"], 3)
    assert down.counts == {Rating.UP: 2, Rating.DOWN: 3}
    assert catalog.feedback("other").counts == {Rating.UP: 0, Rating.DOWN: 0}


def test_a_question_is_shown_only_where_it_was_kept(catalog: Catalog, answer):
    for n, question in ((1, None), (2, "How many days?")):
        assert catalog.give_feedback(TENANT, ANN, answer(n, question), Rating.UP, None, None).question == question


def test_old_answers_and_feedback_are_forgotten(catalog: Catalog, clock: Clock, answer):
    catalog.give_feedback(TENANT, ANN, answer(1), Rating.UP, None, None)
    clock.advance(DAY)
    catalog.give_feedback(TENANT, ANN, answer(2), Rating.UP, None, None)
    forgotten = catalog.forget_history(clock() - timedelta(hours=1))
    assert (forgotten["answers"], forgotten["feedback"]) == (1, 1)
    assert [each.request_id for each in catalog.feedback(TENANT).items] == ["req_2"]
