"""A deleted document is gone: from answers, index, chunk KV and disk."""

from kv_folder import BOTH
from preread_client import handbook_page
from waiting import wait_until

QUESTION = "On which extension does the lighthouse keeper of Marrow Point answer?"
ELSEWHERE = "How many days of annual leave does everybody have?"
PAGE = "# Lighthouse\n\nThe lighthouse keeper of Marrow Point answers on extension 734. The lamp is lit at dusk.\n"


def mentions(client, document_id):
    """Where an answer to the question shows the document."""
    with client.streaming(QUESTION, max_tokens=24) as stream:
        events = list(stream)
    done = events[-1].data
    shown = {
        "retrieved": [passage["document_id"] for passage in events[1].data["passages"]],
        "cited": [citation["document_id"] for citation in done["citations"]],
    }
    return [place for place, ids in shown.items() if document_id in ids] + ["told"] * ("734" in done["answer"])


def kept_files(client, document_id):
    return list(client.stack.settings.files_dir.rglob(f"*{document_id}*"))


def test_a_deleted_document_is_never_retrieved_cited_or_told(client, handbook, temporary):
    document_id = temporary("lighthouse.md", PAGE)
    assert mentions(client, document_id) == ["retrieved", "cited", "told"]
    client.delete(document_id)
    assert mentions(client, document_id) == []
    assert mentions(client, document_id) == []


def test_a_deleted_document_leaves_no_vector_no_chunk_kv_and_no_file(client, kv, temporary):
    document_id = temporary("lighthouse.md", PAGE)
    (chunk,) = kv.chunks(document_id)
    assert client.vectors(document_id) == 1
    assert kv.readings(chunk) == BOTH
    assert kept_files(client, document_id)
    client.delete(document_id)
    assert client.vectors(document_id) == 0
    assert kv.readings(chunk) == set()
    assert not kept_files(client, document_id)
    for path in (f"/documents/{document_id}", f"/documents/{document_id}/text"):
        assert client.http.get(path).status_code == 404
    assert client.http.delete(f"/documents/{document_id}").status_code == 404


def test_chunk_kv_that_another_document_shares_outlives_the_first(client, kv, temporary):
    page = handbook_page("kitchen.md")
    first = temporary("kitchen.md", page)
    second = temporary("kitchen-too.md", f"{page}\n\nThe second kitchen has a window.\n")
    shared = {chunk.ids_hash for chunk in kv.chunks(first)} & {chunk.ids_hash for chunk in kv.chunks(second)}
    ours = [chunk for chunk in kv.chunks(first) if chunk.ids_hash not in shared]
    theirs = [chunk for chunk in kv.chunks(second) if chunk.ids_hash in shared]
    assert ours
    assert theirs
    client.delete(first)
    assert [kv.readings(chunk) for chunk in ours] == [set()] * len(ours)
    assert [kv.readings(chunk) for chunk in theirs] == [BOTH] * len(theirs)
    answer = client.ask("What does a bowl of soup cost?", scope={"document_ids": [second]}, max_tokens=4)
    assert answer["cache"]["misses"] == []
    client.delete(second)
    assert [kv.readings(chunk) for chunk in theirs] == [set()] * len(theirs)


def test_the_engines_prefix_cache_forgets_what_was_deleted(client, handbook, temporary):
    def cached():
        answer = client.ask(ELSEWHERE, cache="off", max_tokens=4)
        assert answer["status"] != "no_answer"
        return answer["usage"]["prefix_tokens"]

    document_id = temporary("lighthouse.md", PAGE)
    cached()
    wait_until(cached, "an exact prompt is found in the prefix cache")
    client.delete(document_id)
    wait_until(lambda: cached() == 0, "the prefix cache is empty")


def test_a_deleted_document_can_be_added_again(client, temporary):
    first = temporary("lighthouse.md", PAGE)
    client.delete(first)
    again = temporary("lighthouse.md", PAGE)
    assert again != first
    assert "retrieved" in mentions(client, again)
    assert not {"retrieved", "cited"} & set(mentions(client, first))
