"""Conversations belong to one owner, hold no document's text, and go when they are old."""

from datetime import timedelta

import pytest
from catalog_rig import TENANT, Clock, Library

from app.core.catalog import Catalog, CitedPlace, ConversationNotFound, ConversationTurn, GivenAnswer

ANN, BOB = "usr_ann", "usr_bob"


def turn(n: int, clock: Clock, chunk_ids: tuple[str, ...] = ()) -> ConversationTurn:
    places = tuple(CitedPlace(1, "doc_1", chunk_id, None, 0, 4, 0.5) for chunk_id in chunk_ids)
    return ConversationTurn(f"req_{n}", f"question {n}?", f"answer {n}", "answered", chunk_ids, places, clock())


def record(catalog: Catalog, conversation_id: str | None, each: ConversationTurn, owner: str = ANN) -> None:
    given = GivenAnswer(
        each.request_id, TENANT, owner, conversation_id, each.status, "impact", each.created_at, 12.5
    )
    catalog.record_answer(given, each)


def test_turns_are_kept_in_order_with_what_they_cite(catalog: Catalog, clock: Clock):
    conversation = catalog.begin_conversation(TENANT, ANN, "Leave")
    written = []
    for n in range(4):
        clock.advance(1)
        written.append(turn(n, clock, (f"chk_{n}",)))
        record(catalog, conversation.id, written[-1])
    assert catalog.turns(TENANT, ANN, conversation.id, 10) == written
    assert catalog.turns(TENANT, ANN, conversation.id, 2) == written[2:]
    assert catalog.turns(TENANT, ANN, conversation.id, 2, 1) == written[1:3]
    kept = catalog.conversation(TENANT, ANN, conversation.id)
    assert (kept.turns, kept.updated_at) == (4, clock())


def test_the_last_used_comes_first_in_pages(catalog: Catalog, clock: Clock):
    ids = []
    for n in range(3):
        clock.advance(1)
        ids.append(catalog.begin_conversation(TENANT, ANN, f"{n}").id)
    clock.advance(1)
    record(catalog, ids[0], turn(1, clock))
    catalog.begin_conversation(TENANT, BOB, "another's")
    catalog.begin_conversation("other", ANN, "of another tenant")
    page = catalog.conversations(TENANT, ANN, 2)
    assert ([each.id for each in page.items], page.total) == ([ids[0], ids[2]], 3)
    assert [each.id for each in catalog.conversations(TENANT, ANN, 2, 2).items] == [ids[1]]
    assert [each.turns for each in page.items] == [1, 0]


@pytest.mark.parametrize(("tenant", "owner"), [(TENANT, BOB), ("other", ANN)])
def test_anothers_conversation_does_not_exist(catalog: Catalog, clock: Clock, tenant, owner):
    conversation = catalog.begin_conversation(TENANT, ANN, "Leave")
    for call in (
        lambda: catalog.conversation(tenant, owner, conversation.id),
        lambda: catalog.turns(tenant, owner, conversation.id, 10),
        lambda: catalog.rename_conversation(tenant, owner, conversation.id, "Mine"),
        lambda: catalog.delete_conversation(tenant, owner, conversation.id),
    ):
        with pytest.raises(ConversationNotFound):
            call()
    given = GivenAnswer("req_1", tenant, owner, conversation.id, "answered", "impact", clock(), None)
    catalog.record_answer(given, turn(1, clock))
    assert catalog.conversation(TENANT, ANN, conversation.id).turns == 0
    assert catalog.conversation(TENANT, ANN, conversation.id).title == "Leave"


def test_an_answer_that_ends_after_its_conversation_was_deleted_brings_nothing_back(catalog: Catalog, clock: Clock):
    conversation = catalog.begin_conversation(TENANT, ANN, "Leave")
    record(catalog, conversation.id, turn(1, clock))
    catalog.delete_conversation(TENANT, ANN, conversation.id)
    record(catalog, conversation.id, turn(2, clock))
    assert catalog.conversations(TENANT, ANN).total == 0
    assert catalog.given_answer(TENANT, "req_2") is not None


def test_text_that_no_database_holds_is_kept_as_far_as_it_can_be(catalog: Catalog, clock: Clock):
    conversation = catalog.begin_conversation(TENANT, ANN, "a\0b")
    odd = ConversationTurn("req_1", "why\0?", "be\ud800cause", "answered", (), (), clock())
    record(catalog, conversation.id, odd)
    (kept,) = catalog.turns(TENANT, ANN, conversation.id, 1)
    assert (kept.question, kept.answer) == ("why\N{REPLACEMENT CHARACTER}?", "be?cause")


def test_conversations_go_when_nobody_went_on_with_them_for_so_long(catalog: Catalog, clock: Clock):
    old, used = (catalog.begin_conversation(TENANT, ANN, title) for title in ("old", "used"))
    record(catalog, old.id, turn(1, clock))
    clock.advance(100 * 24 * 3600)
    record(catalog, used.id, turn(2, clock))
    assert catalog.forget_conversations(clock() - timedelta(days=90)) == 1
    assert [each.id for each in catalog.conversations(TENANT, ANN).items] == [used.id]


def test_chunks_of_deleted_and_replaced_documents_are_not_live(catalog: Catalog, library: Library):
    deleted, replaced, kept = (library.add(f"{name}.md") for name in "abc")
    chunks = {each.name: library.publish(each, f"Of {each.name}.")[0].id for each in (deleted, replaced, kept)}
    assert catalog.live_chunk_ids(TENANT, chunks.values()) == set(chunks.values())
    catalog.begin_delete(TENANT, deleted.id)
    library.publish(library.add("b.md", "newer"), "Newer.")
    assert catalog.live_chunk_ids(TENANT, chunks.values()) == {chunks["c.md"]}
    assert catalog.live_chunk_ids("other", chunks.values()) == set()
