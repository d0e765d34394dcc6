"""`/readyz` names the part that does not answer, and only those count that questions need."""

import asyncio
import socket
from dataclasses import replace
from threading import Event

import pytest
from object_server import BUCKET, ObjectServer
from qdrant_server import QdrantServer
from web_harness import SECRET, wait_until

from app.web.parts import PartCheck, part_checks
from app.web.readiness import Probing
from app.web.schemas.system import Part, Readiness
from kvstore.tiers.configured import TierOptions
from kvstore.tiers.probes import tier_probes
from retrieval.index import IndexedChunk
from retrieval.qdrant_index import QdrantIndex
from retrieval.remote_index import RemoteIndex
from retrieval.search import Retriever
from workers.reindex import Reindexing


@pytest.fixture
def complete(web, monkeypatch):
    """All that questions need answers."""
    monkeypatch.setattr(web.services.waker, "check", lambda: None)
    monkeypatch.setattr(web.services.waker, "workers", lambda: 1)
    told(web, 200)
    return web


def told(web, status: int) -> Readiness:
    """The first answer with this status: what was found is told for a second."""

    def wanted():
        answer = web.client.get("/readyz")
        return answer if answer.status_code == status else None

    return Readiness.model_validate(wait_until(wanted, f"/readyz answers {status}").json())


def asked(checks: list[PartCheck], **options: float) -> Readiness:
    probing = Probing(checks, **options)
    try:
        return asyncio.run(probing.readiness())
    finally:
        probing.close()


def readiness(web, options: TierOptions) -> Readiness:
    return asked(part_checks(replace(web.services, kv_probes=tier_probes(options))))


def kv_part(found: Readiness) -> Part:
    """Of the one tier that is on."""
    (part,) = [part for part in found.parts if not part.required]
    return part


def test_every_tier_is_a_part_that_questions_can_do_without(complete):
    answer = complete.client.get("/readyz")
    assert answer.status_code == 200
    parts = {part["name"]: part for part in answer.json()["parts"]}
    disk = parts.pop("disk for chunk KV")
    assert (disk["ok"], disk["required"], disk["message"], disk["hint"]) == (True, False, "answers", "")
    assert parts.keys() == {"database", "queue", "engine", "index", "worker"}
    assert all(part["required"] for part in parts.values())


def test_a_required_part_that_does_not_answer_makes_it_unready(complete, monkeypatch):
    monkeypatch.setattr(complete.services.waker, "workers", lambda: 0)
    assert [part.name for part in told(complete, 503).parts if not part.ok] == ["worker"]


def test_a_disk_that_cannot_be_used_is_named_and_the_service_stays_ready(complete):
    folder = complete.services.settings.effective_kv_dir
    folder.rename(folder.with_name("away"))
    folder.touch()
    try:
        wait_until(lambda: not kv_part(told(complete, 200)).ok, "it is named")
        found = told(complete, 200)
        assert complete.ask("How high is the travel meal allowance?").status_code == 200
    finally:
        folder.unlink()
        folder.with_name("away").rename(folder)
    assert found.ready
    (part,) = [part for part in found.parts if not part.ok]
    assert part.name == "disk for chunk KV"
    assert str(folder) in part.message
    assert "PREREAD_KV_DIR" in part.hint
    wait_until(lambda: all(part.ok for part in told(complete, 200).parts), "it is well again")


@pytest.mark.parametrize(
    ("free_bytes", "ok", "message"), [(10**6, False, "Only 1.0 MiB are left"), (10**9, True, "answers")]
)
def test_a_disk_that_is_all_but_full_is_named(complete, tmp_path, monkeypatch, free_bytes, ok, message):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free_bytes}))
    found = readiness(complete, TierOptions(str(tmp_path / "kv"), 1000))
    assert found.ready
    assert kv_part(found).ok is ok
    assert message in kv_part(found).message
    assert list(tmp_path.iterdir()) == [], "the probe left something"


def test_a_folder_that_is_only_read_must_be_there_and_is_not_written_to(complete, tmp_path):
    options = TierOptions(str(tmp_path / "kv"), 1000, read_only=True)
    assert not kv_part(readiness(complete, options)).ok
    (tmp_path / "kv").mkdir(mode=0o500)
    before = (tmp_path / "kv").stat().st_mtime_ns
    assert kv_part(readiness(complete, options)).ok
    assert (tmp_path / "kv").stat().st_mtime_ns == before


def test_a_silent_redis_is_named_costs_one_time_out_and_is_left_alone(complete, tmp_path):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent.sock"))
        silent.listen()
        options = TierOptions("", 0, redis_url=f"unix://{tmp_path}/silent.sock")
        checks = part_checks(replace(complete.services, kv_probes=tier_probes(options)))
        found = [asked(checks) for _ in range(3)]
        silent.accept()[0].close()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert all(each.ready for each in found)
    assert {(kv_part(each).name, kv_part(each).ok) for each in found} == {("redis for chunk KV", False)}
    assert "PREREAD_KV_REDIS_URL" in kv_part(found[0]).hint


def test_a_dead_object_store_is_named_and_the_service_stays_ready(complete, monkeypatch):
    server = ObjectServer()
    for name, value in server.options.items():
        monkeypatch.setenv(name.upper(), value)
    options = TierOptions("", 0, object_url=f"s3://{BUCKET}/kv", object_timeout_seconds=1)
    assert kv_part(readiness(complete, options)).ok
    server.stop()
    found = readiness(complete, options)
    assert found.ready
    assert (kv_part(found).name, kv_part(found).ok) == ("object store for chunk KV", False)
    assert "PREREAD_KV_OBJECT_URL" in kv_part(found).hint


def index_part(services) -> tuple[bool, Part]:
    """Whether the service is ready, and what is said of the index."""
    found = asked(part_checks(services))
    (part,) = [part for part in found.parts if part.name == "index"]
    return found.ready, part


class Embedding:
    """An embedding model of another length."""

    dimension = 512


@pytest.mark.parametrize("way", ["a collection of another length", "the index of another web"])
def test_vectors_that_do_not_fit_the_index_make_it_unready_naming_both_numbers(complete, way):
    services, server = complete.services, QdrantServer()
    if way == "the index of another web":
        index = RemoteIndex(str(complete.client.base_url), SECRET)
        found = index_part(replace(services, index=index, reindexing=None, embedder=Embedding()))
        numbers = ("512 numbers", "384.")
    else:
        index = QdrantIndex.connect(server.url, 3, "a-model")
        found = index_part(replace(services, index=index))
        numbers = ("384 numbers", "3.")
    index.close()
    server.stop()
    ready, part = found
    assert (ready, part.ok, part.required) == (False, False, True)
    assert all(number in part.message for number in numbers)
    assert "PREREAD_EMBEDDING_MODEL" in part.hint


def test_a_qdrant_server_that_has_gone_is_named(complete):
    server = QdrantServer()
    index = QdrantIndex.connect(server.url, 384, "a-model")
    assert index_part(replace(complete.services, index=index, reindexing=None))[1].message == "0 chunks"
    server.stop()
    ready, part = index_part(replace(complete.services, index=index, reindexing=None))
    index.close()
    assert (ready, part.ok, server.url in part.message) == (False, False, True)


def test_a_change_of_dimension_is_told_while_all_is_indexed_anew_and_questions_are_answered(
    complete, tmp_path, monkeypatch
):
    services = complete.services
    settings, catalog, embedder = services.settings, services.catalog, services.embedder
    chunks = [
        chunk
        for document in catalog.published_documents(settings.tenant)
        for chunk in catalog.chunks_of(document.current_version_id)
    ]
    before = QdrantIndex.open_local(tmp_path / "index", 3, "the model before")
    before.upsert(
        [IndexedChunk(c.id, c.document_id, c.version_id, c.tenant, c.ordinal, c.text, [1.0, 0.0, 0.0]) for c in chunks]
    )
    before.close()
    index = QdrantIndex.open_local(tmp_path / "index", embedder.dimension, settings.embedding_model)
    reindexing = Reindexing(catalog, index, embedder, settings)
    anew = replace(services, index=index, reindexing=reindexing)
    retriever = Retriever(embedder, index, catalog)

    def cited() -> list[str]:
        found = retriever.retrieve(settings.tenant, "How high is the travel meal allowance?", 1, 0.35)
        return [passage.name for passage in found]

    begun, go_on, real = Event(), Event(), embedder.embed_texts
    monkeypatch.setattr(embedder, "embed_texts", lambda texts: begun.set() or (go_on.wait(60) and real(texts)))
    reindexing.start()
    try:
        assert begun.wait(60)
        ready, part = index_part(anew)
        assert ready
        assert (
            f"{len(chunks)} are still to be indexed anew, from vectors of 3 numbers to vectors of 384" in part.message
        )
        assert cited() == ["travel.md"]
        go_on.set()
        wait_until(lambda: not reindexing.left(), "all is indexed anew")
        assert index_part(anew) == (True, Part(name="index", ok=True, message=f"{len(chunks)} chunks", hint=""))
        assert cited() == ["travel.md"]
    finally:
        go_on.set()
        reindexing.stop()
        index.close()


def ready_part(found: Readiness, name: str) -> Part:
    (part,) = [part for part in found.parts if part.name == name]
    return part


def test_a_part_that_hangs_is_named_with_the_time_it_had_and_the_others_are_told():
    go_on = Event()
    checks = [
        PartCheck("database", lambda: str(go_on.wait(60))),
        PartCheck("queue", lambda: "answers"),
        PartCheck("disk for chunk KV", lambda: str(go_on.wait(60)), required=False),
    ]
    found = asked(checks, part_seconds=0.1)
    go_on.set()
    assert not found.ready
    assert [(part.name, part.ok, part.required) for part in found.parts] == [
        ("database", False, True),
        ("queue", True, True),
        ("disk for chunk KV", False, False),
    ]
    assert ready_part(found, "database").message == "It does not answer within 0.1 s."


async def test_a_part_that_hangs_is_not_asked_again_before_it_answers():
    go_on, calls = Event(), []
    probing = Probing(
        [PartCheck("database", lambda: calls.append(1) or str(go_on.wait(60)))], part_seconds=0.05, kept_seconds=0
    )
    found = [await probing.readiness() for _ in range(3)]
    assert [each.ready for each in found] == [False, False, False]
    assert len(calls) == 1
    go_on.set()
    probing._running["database"].result(30)
    assert (await probing.readiness()).ready
    assert len(calls) == 2
    probing.close()


async def test_many_probes_at_once_ask_each_part_once():
    go_on, calls = Event(), []
    probing = Probing([PartCheck("queue", lambda: calls.append(1) or str(go_on.wait(60)))], kept_seconds=600)
    asking = [asyncio.create_task(probing.readiness()) for _ in range(50)]
    await asyncio.sleep(0)
    go_on.set()
    assert all(found.ready for found in await asyncio.gather(*asking))
    assert (await probing.readiness()).ready
    assert len(calls) == 1
    probing.close()


async def test_a_process_that_is_being_stopped_is_not_ready_and_asks_nobody():
    calls = []
    probing = Probing([PartCheck("queue", lambda: calls.append(1) or "answers")], stopping=lambda: True)
    found = await probing.readiness()
    assert (found.ready, [part.name for part in found.parts], calls) == (False, ["web"], [])
    probing.close()
