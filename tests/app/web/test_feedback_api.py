"""What users think of answers, over HTTP."""

import pytest
from principals import several_users, signed_in

QUESTION = "What is the travel meal allowance?"


def rate(web, request_id, rating="up", **more):
    return web.client.post(f"/ask/{request_id}/feedback", json={"rating": rating, **more})


def test_an_answer_can_be_rated_as_soon_as_it_has_ended_and_the_last_word_counts(web):
    done = web.stream(QUESTION)[-1].data
    before = web.client.get("/admin/feedback").json()["counts"]
    first = rate(web, done["request_id"], "down", reason="incomplete", comment="And on Sundays?")
    assert first.status_code == 200, first.text
    assert rate(web, done["request_id"]).json()["rating"] == "up"
    report = web.client.get("/admin/feedback").json()
    assert report["counts"] == {"up": before["up"] + 1, "down": before["down"]}
    newest = report["items"][0]
    assert (newest["request_id"], newest["comment"], newest["reason"]) == (done["request_id"], None, None)


def test_no_text_of_the_question_is_kept_unless_it_is_wanted(web, monkeypatch):
    request_id = web.ask(QUESTION).json()["request_id"]
    assert rate(web, request_id).json()["question"] is None
    monkeypatch.setitem(web.services.settings.__dict__, "feedback_keeps_text", True)
    request_id = web.ask(QUESTION).json()["request_id"]
    assert rate(web, request_id).json()["question"] == QUESTION


@pytest.mark.parametrize("body", [{}, {"rating": "fine"}, {"rating": "up", "reason": "rude"}, {"rating": "up", "x": 1}])
def test_what_is_no_feedback_is_refused(web, body):
    assert web.client.post("/ask/req_1/feedback", json=body).status_code == 422


def test_only_who_asked_may_rate_and_only_admins_see_ratings(web):
    with several_users(web):
        ann, bob = signed_in(web, "ann"), signed_in(web, "bob")
        request_id = ann.ask(QUESTION).json()["request_id"]
        for other in (bob, web):
            answer = rate(other, request_id)
            assert (answer.status_code, answer.json()["code"]) == (404, "answer_not_found")
        assert rate(ann, request_id, "down", reason="wrong").status_code == 200
        assert ann.client.get("/admin/feedback").status_code == 403
        down = web.client.get("/admin/feedback", params={"rating": "down", "limit": 1}).json()
        assert (down["items"][0]["request_id"], down["items"][0]["owner"]) == (request_id, "ann")
        assert down["total"] == down["counts"]["down"]
