"""Workers beside engines of their own, in the scaled shape: what a dead worker or a dead engine costs."""

import json

import pytest
from kv_folder import BOTH
from preread_client import handbook_page
from waiting import wait_until

from app.core.settings import Settings
from generator.engine import EngineClient

# Not the same ones twice: what was deleted just now is not pre-read again before every engine has forgotten it.
PAGES = ("procurement.md", "it-equipment.md", "parental-leave.md", "onboarding.md")
OTHER_PAGES = ("hiring.md", "performance-reviews.md", "warranty-and-returns.md", "workshop-safety.md")
PAGE = "# Harbour\n\nThe harbour office of Skerry Island opens at half past seven and shuts at four.\n"

pytestmark = pytest.mark.shape("scaled")


@pytest.fixture
def documents(client, request):
    added = [client.add(name, handbook_page(name)) for name in request.param]
    yield added
    client.stack.mend()
    for document_id in added:
        client.delete(document_id)


def tokens_of_engine(url):
    lines = EngineClient(url)._sync.get("/metrics").text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("vllm:prompt_tokens_total{"))


def own_engines(stack: "object") -> list[str]:
    settings: Settings = stack.settings
    return settings.every_engine_url[1:]


def all_preread(client, kv, documents):
    client.wait_until_preread(documents, 600)
    for document_id in documents:
        chunks = kv.chunks(document_id)
        assert client.vectors(document_id) == len(chunks)
        assert all(kv.readings(chunk) == BOTH for chunk in chunks)


def test_documents_are_pre_read_by_the_workers_own_engines(client, kv, temporary):
    before = client.engine_metric("vllm:prompt_tokens_total")
    theirs = [tokens_of_engine(url) for url in own_engines(client.stack)]
    document_id = temporary("harbour.md", PAGE)
    all_preread(client, kv, [document_id])
    assert client.engine_metric("vllm:prompt_tokens_total") == before
    assert [tokens_of_engine(url) for url in own_engines(client.stack)] != theirs


@pytest.mark.long
@pytest.mark.parametrize(
    ("documents", "killed"),
    [(PAGES, "worker-1"), (OTHER_PAGES, "engine-1")],
    ids=["a worker", "a worker's engine"],
    indirect=["documents"],
)
def test_what_was_under_way_where_a_process_was_killed_is_taken_up_by_the_other_worker(client, kv, documents, killed):
    before = set(kv.inodes())
    wait_until(lambda: len(set(kv.inodes()) - before) > 2, "some chunks are pre-read")
    client.stack.kill(killed)
    all_preread(client, kv, documents)


@pytest.mark.long
def test_a_deletion_is_not_proven_until_every_engine_has_forgotten(client, stack, temporary):
    document_id = temporary("harbour.md", PAGE)
    stack.kill("engine-2")
    client.delete(document_id)
    found = json.loads(stack.run("verify", "--purged", document_id, "--json").out)
    assert not found["proven"]
    assert {place["name"] for place in found["places"] if place["left"] != 0} == {"engine"}
    checked = json.loads(stack.run("doctor", "--json").out)["findings"]
    failed = [finding["name"] for finding in checked if finding["level"] == "fail"]
    assert failed == [f"engine {stack.settings.every_engine_url[2]}"]
    stack.mend()
    wait_until(lambda: stack.run("verify", "--purged", document_id).code == 0, "the deletion is proven")
