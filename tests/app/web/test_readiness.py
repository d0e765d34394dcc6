"""`/readyz` names the part that does not answer, and only those count that questions need."""

import socket
from dataclasses import replace

import pytest
from object_server import BUCKET, ObjectServer

from app.web.schemas.system import Part, Readiness
from app.web.system import System
from kvstore.tiers.configured import TierOptions
from kvstore.tiers.probes import tier_probes


@pytest.fixture
def complete(web, monkeypatch):
    """All that questions need answers."""
    monkeypatch.setattr(web.services.waker, "check", lambda: None)
    monkeypatch.setattr(web.services.waker, "workers", lambda: 1)
    return web


def readiness(web, options: TierOptions) -> Readiness:
    return System(replace(web.services, kv_probes=tier_probes(options))).readiness()


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
    answer = complete.client.get("/readyz")
    assert answer.status_code == 503
    assert [part["name"] for part in answer.json()["parts"] if not part["ok"]] == ["worker"]


def test_a_disk_that_cannot_be_used_is_named_and_the_service_stays_ready(complete):
    folder = complete.services.settings.effective_kv_dir
    folder.rename(folder.with_name("away"))
    folder.touch()
    try:
        answer = complete.client.get("/readyz")
        assert complete.ask("How high is the travel meal allowance?").status_code == 200
    finally:
        folder.unlink()
        folder.with_name("away").rename(folder)
    assert (answer.status_code, answer.json()["ready"]) == (200, True)
    (part,) = [part for part in answer.json()["parts"] if not part["ok"]]
    assert part["name"] == "disk for chunk KV"
    assert str(folder) in part["message"]
    assert "PREREAD_KV_DIR" in part["hint"]
    assert all(part["ok"] for part in complete.client.get("/readyz").json()["parts"])


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
        system = System(replace(complete.services, kv_probes=tier_probes(options)))
        found = [system.readiness() for _ in range(3)]
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
