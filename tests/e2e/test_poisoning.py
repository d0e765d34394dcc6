"""What fusion writes into the engine's pages is found by no other request: exact answers stay exact."""

import pytest
import torch

from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codec import LOSSLESS

QUESTION = "How many days of annual leave do full-time employees have?"
LENGTH = 24

pytestmark = pytest.mark.usefixtures("handbook")


def exact(client):
    return client.ask(QUESTION, cache="off", max_tokens=LENGTH)["answer"]


def fused(client):
    return client.ask(QUESTION, policy="none", max_tokens=LENGTH)


def sources(client):
    with client.streaming(QUESTION, max_tokens=1) as stream:
        return list(stream)[1].data["passages"]


@pytest.fixture
def garbage(client, kv):
    """A chunk of the question's whose KV on disk has become noise under the right name. Mended afterwards."""
    chunk = kv.chunk(sources(client)[0]["chunk_id"])
    sound = kv.blob(chunk).read_bytes()
    found = Blob.parse(sound).decode()
    generator = torch.Generator().manual_seed(0)

    def noise(tensors):
        return tuple((9 * torch.randn(t.shape, generator=generator)).to(t.dtype) for t in tensors)

    bad = encode_blob(ChunkKV(noise(found.keys), noise(found.values)), kv.identity(chunk), LOSSLESS)
    kv.evict(chunk)
    kv.blob(chunk).write_bytes(bad)
    yield chunk
    kv.evict(chunk)
    kv.blob(chunk).write_bytes(sound)


def test_an_exact_answer_is_the_same_before_and_after_fused_ones_of_the_same_prompt(client):
    before = exact(client)
    assert fused(client)["cache"]["hits"] > 0
    assert fused(client)["cache"]["hits"] > 0
    assert exact(client) == before


def test_noise_in_the_place_of_chunk_kv_changes_no_exact_answer(client, garbage):
    before = exact(client)
    spoiled = fused(client)
    assert spoiled["cache"]["misses"] == []
    assert spoiled["answer"] != before
    assert exact(client) == before


def test_a_damaged_blob_is_a_miss_and_not_an_answer(client, kv):
    chunk = kv.chunk(sources(client)[0]["chunk_id"])
    sound = kv.blob(chunk).read_bytes()
    kv.evict(chunk)
    kv.blob(chunk).write_bytes(sound[:-1000] + bytes(1000))
    answer = fused(client)
    assert answer["cache"]["misses"] == [{"chunk_id": chunk.id, "reason": "corrupt"}]
    assert answer["cache"]["hits"] == answer["cache"]["chunks"] - 1
    client.wait_until_preread([chunk.document_id])
    assert fused(client)["cache"]["misses"] == []
