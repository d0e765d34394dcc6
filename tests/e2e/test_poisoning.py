"""What fusion writes into the engine's pages is found by no other request: exact answers stay exact."""

import pytest
import torch

from app.core.ids import new_id
from generator.prompt import assemble
from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codec import LOSSLESS

LENGTH = 24

pytestmark = pytest.mark.usefixtures("handbook")


def exact(client, question):
    return client.ask(question, cache="off", max_tokens=LENGTH)["answer"]


def fused(client, question):
    return client.ask(question, policy="none", max_tokens=LENGTH)


def chunks_of(client, kv, question):
    with client.streaming(question, max_tokens=1) as stream:
        return [kv.chunk(passage["chunk_id"]) for passage in list(stream)[1].data["passages"]]


def unshared(client, kv, question):
    """The engine's own answer to the same prompt, from pages that no other request has written."""
    chunks = [chunk.token_ids for chunk in chunks_of(client, kv, question)]
    prompt = assemble(kv.tokenizer, kv.preamble, chunks, question, kv.settings.max_model_tokens)
    body = {"prompt": prompt.token_ids, "max_tokens": LENGTH, "temperature": 0, "cache_salt": new_id("alone")}
    return client.engine.post("/v1/completions", json=body).raise_for_status().json()["choices"][0]["text"].strip()


@pytest.fixture
def make_noise(kv):
    """Puts noise in the place of a chunk's KV, under its right name; mended afterwards."""
    replaced = []

    def make_noise(chunk):
        sound = kv.blob(chunk).read_bytes()
        replaced.append((chunk, sound))
        found = Blob.parse(sound).decode()
        generator = torch.Generator().manual_seed(0)

        def noise(tensors):
            return tuple((9 * torch.randn(t.shape, generator=generator)).to(t.dtype) for t in tensors)

        kv.evict(chunk)
        bad = encode_blob(ChunkKV(noise(found.keys), noise(found.values)), kv.identity(chunk), LOSSLESS)
        kv.blob(chunk).write_bytes(bad)

    yield make_noise
    for chunk, sound in replaced:
        kv.evict(chunk)
        kv.blob(chunk).write_bytes(sound)


def test_fused_answers_before_an_exact_one_of_the_same_prompt_do_not_change_it(client, kv):
    question = "Until which date must carried-over leave be used?"
    assert fused(client, question)["cache"]["hits"] > 1
    assert exact(client, question) == unshared(client, kv, question)


def test_fused_answers_after_an_exact_one_of_the_same_prompt_do_not_change_it(client):
    question = "How many days of leave may be bought each year?"
    before = exact(client, question)
    assert fused(client, question)["cache"]["hits"] > 1
    assert exact(client, question) == before


def test_noise_in_the_place_of_chunk_kv_reaches_no_exact_answer(client, kv, make_noise):
    question = "When is the company closed in winter?"
    make_noise(chunks_of(client, kv, question)[0])
    spoiled = fused(client, question)
    assert spoiled["cache"]["misses"] == []
    answer = exact(client, question)
    assert answer == unshared(client, kv, question)
    assert answer != spoiled["answer"]


def test_a_damaged_blob_is_a_miss_and_not_an_answer(client, kv):
    question = "What must you do when you fall ill on holiday?"
    chunk = chunks_of(client, kv, question)[0]
    sound = kv.blob(chunk).read_bytes()
    kv.evict(chunk)
    kv.blob(chunk).write_bytes(sound[:-1000] + bytes(1000))
    answer = fused(client, question)
    assert answer["cache"]["misses"] == [{"chunk_id": chunk.id, "reason": "corrupt"}]
    assert answer["cache"]["hits"] == answer["cache"]["chunks"] - 1
    client.wait_until_preread([chunk.document_id])
    assert fused(client, question)["cache"]["misses"] == []
