"""What fusion writes into the engine's pages is found by no other request: exact answers stay exact."""

import pytest
import torch
from preread_client import handbook_page

from app.core.ids import new_id
from generator.prompt import assemble
from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS
from kvstore.key import Reading

LENGTH = 24


@pytest.fixture
def scope(temporary):
    """Makes the scope of one page that no other test asks about: the engine has never seen its prompts."""
    return lambda name: {"document_ids": [temporary(name, handbook_page(name))]}


def exact(client, question, scope):
    return client.ask(question, scope=scope, cache="off", max_tokens=LENGTH)["answer"]


def fused(client, question, scope):
    return client.ask(question, scope=scope, policy="none", max_tokens=LENGTH)


def chunks_of(client, kv, question, scope):
    with client.streaming(question, scope=scope, max_tokens=1) as stream:
        return [kv.chunk(passage["chunk_id"]) for passage in list(stream)[1].data["passages"]]


def unshared(client, kv, question, scope):
    """The engine's own answer to the same prompt, from pages that no other request has written."""
    chunks = [chunk.token_ids for chunk in chunks_of(client, kv, question, scope)]
    prompt = assemble(kv.tokenizer, kv.preamble, chunks, question, kv.settings.max_model_tokens)
    body = {"prompt": prompt.token_ids, "max_tokens": LENGTH, "temperature": 0, "cache_salt": new_id("alone")}
    return client.engine.post("/v1/completions", json=body).raise_for_status().json()["choices"][0]["text"].strip()


@pytest.fixture
def make_noise(kv):
    """Puts noise in the place of a chunk's KV, under its right name; mended afterwards."""
    replaced = []

    def make_noise(chunk, reading):
        sound = kv.blob(chunk, reading).read_bytes()
        replaced.append((chunk, reading, sound))
        found = Blob.parse(sound).allocate()
        generator = torch.Generator().manual_seed(0)

        def noise(tensors):
            return tuple((9 * torch.randn(t.shape, generator=generator)).to(t.dtype) for t in tensors)

        kv.evict(chunk, reading)
        bad = encode_blob(ChunkKV(noise(found.keys), noise(found.values)), Blob.parse(sound).identity, LOSSLESS)
        kv.blob(chunk, reading).write_bytes(bad)

    yield make_noise
    for chunk, reading, sound in replaced:
        kv.evict(chunk, reading)
        kv.blob(chunk, reading).write_bytes(sound)


def test_fused_answers_before_an_exact_one_of_the_same_prompt_do_not_change_it(client, kv, scope):
    asked = "How much is the training budget of each employee?", scope("training.md")
    assert fused(client, *asked)["cache"]["hits"] == 2
    assert exact(client, *asked) == unshared(client, kv, *asked)


def test_fused_answers_after_an_exact_one_of_the_same_prompt_do_not_change_it(client, handbook):
    asked = "How many days of leave may be bought each year?", {"document_ids": list(handbook.values())}
    before = exact(client, *asked)
    assert fused(client, *asked)["cache"]["hits"] > 1
    assert exact(client, *asked) == before


def test_noise_in_the_place_of_chunk_kv_reaches_no_exact_answer(client, kv, scope, make_noise):
    asked = "How much is the home office allowance?", scope("remote-work.md")
    for chunk in kv.chunks(asked[1]["document_ids"][0]):
        for reading in Reading:
            make_noise(chunk, reading)
    spoiled = fused(client, *asked)
    assert spoiled["cache"]["hits"] == spoiled["cache"]["chunks"] > 0
    answer = exact(client, *asked)
    assert answer == unshared(client, kv, *asked)
    assert answer != spoiled["answer"]


def test_a_damaged_blob_is_a_miss_and_not_an_answer(client, kv, scope):
    asked = "How long are camera pictures kept?", scope("privacy.md")
    chunk = chunks_of(client, kv, *asked)[0]
    for reading in Reading:
        sound = kv.blob(chunk, reading).read_bytes()
        kv.evict(chunk, reading)
        kv.blob(chunk, reading).write_bytes(sound[:-1000] + bytes(1000))
    answer = fused(client, *asked)
    assert answer["cache"]["misses"] == [{"chunk_id": chunk.id, "reason": "corrupt"}]
    assert answer["cache"]["hits"] == answer["cache"]["chunks"] - 1
    kv.wait_until_whole(chunk)
    assert fused(client, *asked)["cache"]["misses"] == []
