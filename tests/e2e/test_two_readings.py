"""Every chunk has two readings; each place in a prompt takes the one that suits it."""

import pytest
from kv_folder import BOTH

from kvstore.key import Reading

QUESTION = "How many days of annual leave do full-time employees have?"

pytestmark = pytest.mark.usefixtures("handbook")


@pytest.fixture
def chunks(client, kv):
    """The three chunks of the question in their order, whole before and after the test."""
    with client.streaming(QUESTION, policy="none", max_tokens=1) as stream:
        found = [kv.chunk(passage["chunk_id"]) for passage in list(stream)[1].data["passages"]]
    for chunk in found:
        kv.wait_until_whole(chunk)
    yield found
    for chunk in found:
        kv.wait_until_whole(chunk)


def cache(client, **fields):
    return client.ask(QUESTION, max_tokens=2, **{"policy": "none", **fields})["cache"]


def test_pre_read_documents_have_both_readings_of_every_chunk(client, kv, handbook):
    for document_id in handbook.values():
        chunks = kv.chunks(document_id)
        assert [kv.readings(chunk) for chunk in chunks] == [BOTH] * len(chunks)
        assert client.document(document_id)["chunks_ready"] == len(chunks)
    assert client.http.get("/status").json()["conditioning"] == "neutral"


def test_an_answer_is_served_by_an_opening_reading_in_first_place_and_by_conditioned_ones_behind_it(client, kv, chunks):
    first, *later = chunks
    kv.evict(first, Reading.CONDITIONED)
    for chunk in later:
        kv.evict(chunk, Reading.OPENING)
    assert cache(client) == {"chunks": 3, "hits": 3, "misses": []}
    assert cache(client, cache="only")["hits"] == 3
    misses = [{"chunk_id": chunk.id, "reason": "evicted"} for chunk in later]
    assert cache(client, policy="alone:none") == {"chunks": 3, "hits": 1, "misses": misses}
    client.http.post("/precompute", json={"mode": "missing"}).raise_for_status()


def test_a_later_chunk_is_missing_without_its_conditioned_reading(client, kv, chunks):
    kv.evict(chunks[1], Reading.CONDITIONED)
    assert client.post(QUESTION, cache="only", policy="none").json()["code"] == "cache_incomplete"
    kv.wait_until_whole(chunks[1])
    kv.evict(chunks[1], Reading.CONDITIONED)
    assert cache(client)["misses"] == [{"chunk_id": chunks[1].id, "reason": "evicted"}]


def test_a_first_chunk_without_its_opening_reading_is_served_by_the_other_and_gets_it_back(client, kv, chunks):
    kv.evict(chunks[0], Reading.OPENING)
    assert cache(client) == {"chunks": 3, "hits": 3, "misses": []}
    kv.wait_until_whole(chunks[0])
