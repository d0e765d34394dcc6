"""Conversations over HTTP: what is kept, what is put before the model again, and whose they are."""

from urllib.parse import quote

import pytest
from principals import several_users, signed_in
from scripted_engine import WELL, piece, usage

from app.core.access import Role

QUESTION = "What is the travel meal allowance?"
ELSEWHERE = "zxqv wblorf grumtide of the fifth kind?"


@pytest.fixture
def users(web):
    with several_users(web):
        yield signed_in(web, "ann"), signed_in(web, "bob")


def begin(web, question=QUESTION, **more):
    answer = web.ask(question, conversation_id="new", **more).json()
    assert answer["conversation_id"].startswith("cnv_")
    return answer


def shown(web, conversation_id):
    answer = web.client.get(f"/conversations/{conversation_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def prompt_of(web):
    """The last prompt's text, control tokens included."""
    return web.services.tokenizer._markup.decode(web.engine.completions[-1]["prompt"], skip_special_tokens=False)


def test_a_question_without_a_conversation_has_none_and_leaves_none(web):
    before = web.client.get("/conversations").json()["total"]
    assert web.ask(QUESTION).json()["conversation_id"] is None
    assert web.client.get("/conversations").json()["total"] == before


def test_meta_and_done_name_the_conversation_that_was_begun(web):
    meta, *_, done = web.stream(QUESTION, conversation_id="new")
    assert meta.data["conversation_id"] == done.data["conversation_id"] is not None
    again = web.ask("And on Sundays?", conversation_id=done.data["conversation_id"]).json()
    assert again["conversation_id"] == done.data["conversation_id"]


def test_a_turn_keeps_question_answer_status_request_citations_and_time(web):
    web.engine.script = [piece("The allowance is 45 euros a day [1]."), piece("", "stop"), usage(), "[DONE]"]
    answer = begin(web)
    conversation = shown(web, answer["conversation_id"])
    assert (conversation["title"], conversation["turns"]) == (QUESTION, 1)
    (turn,) = conversation["items"]
    assert (turn["question"], turn["answer"], turn["status"]) == (QUESTION, answer["answer"], "answered")
    assert turn["request_id"] == answer["request_id"]
    assert turn["citations"] == answer["citations"] != []
    assert turn["created_at"] == conversation["updated_at"]


def test_earlier_turns_follow_the_passages_and_precede_the_question(web):
    conversation_id = begin(web)["conversation_id"]
    alone = web.engine.completions[-1]
    web.ask("And how many days of annual leave?", conversation_id=conversation_id)
    prompt = prompt_of(web)
    first, answer = prompt.index(f"Question: {QUESTION}"), prompt.index("Forty euros.")
    assert prompt.index("[2] ") < first < answer < prompt.index("Question: And how many days of annual leave?")
    segments = [each["kv_transfer_params"]["preread"]["segments"] for each in (alone, web.engine.completions[-1])]
    assert segments[0][0] == segments[1][0]
    assert web.engine.completions[-1]["cache_salt"] != alone["cache_salt"]


def test_a_follow_up_is_searched_with_the_question_before_it(web):
    conversation_id = begin(web)["conversation_id"]
    alone = web.ask("zxqv of them?").json()
    assert alone["status"] == "no_answer"
    follow_up = web.ask("zxqv of them?", conversation_id=conversation_id).json()
    assert follow_up["cache"]["chunks"] > 0


def test_what_is_in_no_document_stays_without_an_answer_in_a_conversation_too(web):
    conversation_id = begin(web)["conversation_id"]
    answer = web.ask(ELSEWHERE, conversation_id=conversation_id).json()
    assert (answer["status"], answer["citations"]) == ("no_answer", [])
    web.ask("And on Sundays?", conversation_id=conversation_id)
    assert ELSEWHERE not in prompt_of(web), "and is not told to the model"
    assert [turn["status"] for turn in shown(web, conversation_id)["items"]] == ["answered", "no_answer", "answered"]


def test_history_keeps_to_its_tokens_and_costs_no_passage(web, monkeypatch):
    conversation_id = begin(web)["conversation_id"]
    for n in range(3):
        web.ask(f"And what about allowance number {n}?", conversation_id=conversation_id)
    settings = web.services.settings
    monkeypatch.setitem(settings.__dict__, "history_tokens", 40)
    web.ask("And the travel allowance?", conversation_id=conversation_id)
    assert "allowance number 2" in prompt_of(web)
    assert "allowance number 0" not in prompt_of(web)
    monkeypatch.setitem(settings.__dict__, "history_tokens", 1024)
    alone = web.ask(QUESTION).json()
    web.engine.max_model_tokens = len(web.engine.completions[-1]["prompt"]) + 256
    answer = web.ask(QUESTION, conversation_id=conversation_id).json()
    assert answer["cache"]["chunks"] == alone["cache"]["chunks"]
    assert "allowance number" not in prompt_of(web)


def test_a_question_too_long_is_refused_in_a_conversation_as_without(web):
    conversation_id = begin(web)["conversation_id"]
    answer = web.ask("travel meal allowance " * 3000, conversation_id=conversation_id)
    assert (answer.status_code, answer.json()["code"]) == (422, "question_too_long")
    assert shown(web, conversation_id)["turns"] == 1


def test_an_answer_that_broke_off_is_kept_as_failed_and_not_told_again(web):
    web.engine.script = [piece("Half an ans"), None]
    events = web.stream(QUESTION, conversation_id="new")
    conversation_id = events[0].data["conversation_id"]
    assert events[-1].name == "error"
    (turn,) = shown(web, conversation_id)["items"]
    assert (turn["status"], turn["answer"], turn["citations"]) == ("failed", "Half an ans", [])
    web.engine.script = list(WELL)
    web.ask("And on Sundays?", conversation_id=conversation_id)
    assert "Half an ans" not in prompt_of(web)


def test_a_deleted_documents_citations_and_answers_are_neither_shown_nor_told_again(web):
    document_id = web.add("ferry.md", "The ferry to Marrow Point costs nineteen guilders on weekdays.")
    web.engine.script = [piece("It costs nineteen guilders [1]."), piece("", "stop"), usage(), "[DONE]"]
    question = "What does the ferry to Marrow Point cost?"
    conversation_id = begin(web, question)["conversation_id"]
    (turn,) = shown(web, conversation_id)["items"]
    assert [each["document_id"] for each in turn["citations"]] == [document_id]
    web.engine.script = list(WELL)
    web.ask("And on weekdays?", conversation_id=conversation_id)
    assert "nineteen guilders [1]" in prompt_of(web)
    assert web.client.delete(f"/documents/{document_id}").status_code == 204
    first, _ = shown(web, conversation_id)["items"]
    assert (first["question"], first["citations"]) == (question, [])
    assert "weekdays." not in web.client.get(f"/conversations/{conversation_id}").text, "no quote of it is left"
    web.ask("What is the travel meal allowance?", conversation_id=conversation_id)
    assert "nineteen guilders" not in prompt_of(web)


def test_conversations_are_listed_renamed_and_deleted(web):
    first, second = (begin(web)["conversation_id"] for _ in range(2))
    items = web.client.get("/conversations", params={"limit": 2}).json()["items"]
    assert [each["id"] for each in items] == [second, first]
    renamed = web.client.patch(f"/conversations/{first}", json={"title": " Leave "})
    assert (renamed.status_code, renamed.json()["title"]) == (200, "Leave")
    assert web.client.patch(f"/conversations/{first}", json={"title": " "}).status_code == 422
    assert web.client.delete(f"/conversations/{first}").status_code == 204
    for method in ("GET", "DELETE"):
        answer = web.client.request(method, f"/conversations/{first}")
        assert (answer.status_code, answer.json()["code"]) == (404, "conversation_not_found")
    assert web.ask(QUESTION, conversation_id=first).status_code == 404
    assert len(web.engine.completions) == 2, "the model was asked no more"


@pytest.mark.parametrize("name", ["a b", "cnv\0", "ü"])
def test_what_can_be_no_conversations_name_is_refused(web, name):
    assert web.ask(QUESTION, conversation_id=name).status_code == 422
    assert web.client.get(f"/conversations/{quote(name)}").status_code in (404, 422)


def test_a_long_first_question_is_a_short_title(web):
    title = shown(web, begin(web, f"{QUESTION} " * 20)["conversation_id"])["title"]
    assert len(title) <= 80
    assert title.endswith("…")


def test_a_conversation_exists_for_its_owner_alone(web, users):
    ann, bob = users
    conversation_id = begin(ann)["conversation_id"]
    stranger = signed_in(web, "ann", Role.ADMIN, tenant="other")
    for other in (bob, web, stranger):
        assert other.client.get(f"/conversations/{conversation_id}").status_code == 404
        assert other.client.patch(f"/conversations/{conversation_id}", json={"title": "Mine"}).status_code == 404
        assert other.client.delete(f"/conversations/{conversation_id}").status_code == 404
        asked = other.ask(QUESTION, conversation_id=conversation_id)
        assert (asked.status_code, asked.json()["code"]) == (404, "conversation_not_found")
        listed = other.client.get("/conversations", params={"limit": 500}).json()["items"]
        assert conversation_id not in {each["id"] for each in listed}
    assert shown(ann, conversation_id)["turns"] == 1
