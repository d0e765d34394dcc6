"""How an answer was made, for admins."""

from principals import several_users, signed_in

from app.core.access import Role

QUESTION = "What is the travel meal allowance?"


def test_an_admin_is_told_how_the_prompt_was_made_and_served(web):
    web.engine.tiers = [("disk", None), (None, "absent")]
    conversation_id = web.ask(QUESTION, conversation_id="new").json()["conversation_id"]
    answer = web.ask("And on Sundays?", conversation_id=conversation_id, debug=True).json()
    debug, sent = answer["debug"], web.engine.completions[-1]
    assert sum(debug["prompt"].values()) == len(sent["prompt"])
    assert all(tokens > 0 for tokens in debug["prompt"].values())
    assert debug["cache_salt"] == sent["cache_salt"]
    assert debug["searched_with"] == QUESTION
    chunks = [segment for segment in debug["segments"] if segment["kind"] == "chunk"]
    assert [(each["tier"], each["reason"]) for each in chunks] == [("disk", None), (None, "not_precomputed")]
    assert all(each["chunk_id"] for each in chunks)
    assert debug["segments"][-1]["end"] == sum(debug["prompt"][part] for part in ("preamble", "passages", "numbers"))


def test_nothing_of_it_is_told_unless_it_is_asked_for(web):
    assert web.ask(QUESTION).json()["debug"] is None


def test_whoever_is_no_admin_is_refused_before_any_stream(web):
    with several_users(web):
        for role, status in ((Role.READER, 403), (Role.EDITOR, 403), (Role.ADMIN, 200)):
            answer = signed_in(web, "ann", role).ask(QUESTION, debug=True, stream=True)
            assert answer.status_code == status
            if status == 403:
                assert answer.json()["code"] == "forbidden"
    assert len(web.engine.completions) == 1
