"""One of an answer's chunks has lost its KV: it alone is computed, and soon pre-read again."""

import pytest

QUESTION = "How many days of annual leave do full-time employees have?"

pytestmark = pytest.mark.usefixtures("handbook")


@pytest.fixture
def chunks(client, kv):
    """The three chunks of the question, all pre-read."""
    with client.streaming(QUESTION, max_tokens=1) as stream:
        passages = list(stream)[1].data["passages"]
    found = [kv.chunk(passage["chunk_id"]) for passage in passages]
    assert len(found) == 3
    client.wait_until_preread([chunk.document_id for chunk in found])
    return found


def ask(client, **fields):
    return client.ask(QUESTION, policy="none", max_tokens=2, **fields)


def test_a_missing_middle_chunk_alone_is_computed_and_its_reason_told(client, kv, chunks):
    middle = chunks[1]
    kv.evict(middle)
    answer = ask(client)
    assert answer["cache"] == {"chunks": 3, "hits": 2, "misses": [{"chunk_id": middle.id, "reason": "evicted"}]}
    assert answer["usage"]["fresh_tokens"] == len(middle.token_ids)


def test_a_missing_chunk_is_read_again_by_itself(client, kv, chunks):
    kv.evict(chunks[1])
    assert ask(client)["cache"]["hits"] == 2
    kv.wait_until_whole(chunks[1])
    assert ask(client)["cache"] == {"chunks": 3, "hits": 3, "misses": []}


def test_cache_only_refuses_while_a_chunk_is_missing_and_has_it_read(client, kv, chunks):
    kv.evict(chunks[1])
    response = client.post(QUESTION, cache="only")
    assert (response.status_code, response.json()["code"]) == (409, "cache_incomplete")
    kv.wait_until_whole(chunks[1])
    assert ask(client, cache="only")["cache"]["hits"] == 3
