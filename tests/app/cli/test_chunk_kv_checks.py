"""`doctor` tells where chunk KV cannot be stored and why, and whether its key is one."""

import base64
import shutil

import pytest
from mortal_redis import MortalRedis
from object_server import ObjectServer
from pydantic import SecretStr
from redis import Redis

from app.cli.checks.chunk_kv import check_encryption, check_kv_disk, check_kv_object, check_kv_redis
from app.cli.checks.finding import Level
from app.cli.doctor import findings_of
from kvstore.tiers.disk import DiskTier

GIB = 2**30


@pytest.fixture
def server(monkeypatch):
    server = ObjectServer()
    for name, value in server.options.items():
        monkeypatch.setenv(name.upper(), value)
    yield server
    server.stop()


@pytest.fixture
def redis(tmp_path, request):
    redis = MortalRedis(tmp_path, *getattr(request, "param", ()))
    yield redis
    redis.kill()


def with_redis(settings, url, **more):
    return settings.model_copy(update={"kv_redis_url": url, **more})


def test_what_is_off_is_fine(settings):
    off = settings.model_copy(update={"kv_disk_bytes": 0})
    checks = (check_kv_redis, check_kv_disk, check_kv_object, check_encryption)
    assert [check(off).message for check in checks] == ["off"] * 4


def test_doctor_makes_every_check(settings):
    elsewhere = settings.model_copy(update={"engine_port": 9, "web_url": "http://127.0.0.1:9"})
    assert {
        "redis for chunk KV",
        "disk for chunk KV",
        "object store for chunk KV",
        "encryption of chunk KV",
    } <= {finding.name for finding in findings_of(elsewhere)}


@pytest.mark.parametrize("policy", ["volatile-lru", "allkeys-lfu"])
def test_a_redis_that_forgets_is_fine(settings, redis, policy):
    with Redis.from_url(redis.url) as client:
        client.config_set("maxmemory", GIB)
        client.config_set("maxmemory-policy", policy)
    finding = check_kv_redis(with_redis(settings, redis.url))
    assert (finding.name, finding.level) == ("redis for chunk KV", Level.OK)
    assert finding.message == f"{redis.url} answers, 1.0 GiB with {policy}"


@pytest.mark.parametrize(
    ("redis", "message"),
    [
        (("--maxmemory", "1gb", "--maxmemory-policy", "noeviction"), "forgets nothing"),
        (("--maxmemory", "0", "--maxmemory-policy", "volatile-lru"), "no memory limit"),
    ],
    indirect=["redis"],
)
def test_a_redis_that_cannot_forget_is_named(settings, redis, message):
    finding = check_kv_redis(with_redis(settings, redis.url))
    assert (finding.name, finding.level) == ("redis for chunk KV", Level.WARN)
    assert message in finding.message
    assert "--maxmemory-policy volatile-lru" in finding.hint


def test_a_redis_that_does_not_answer_is_named_without_its_password(settings):
    finding = check_kv_redis(with_redis(settings, "redis://:hunter2@127.0.0.1:9/0"))
    assert (finding.name, finding.level) == ("redis for chunk KV", Level.FAIL)
    assert "redis://127.0.0.1:9/0 does not answer" in finding.message
    assert "Is Redis running there?" in finding.hint
    assert "hunter2" not in finding.message + finding.hint


def test_a_redis_url_that_is_none_is_named(settings):
    finding = check_kv_redis(with_redis(settings, "localhost:6379"))
    assert (finding.name, finding.level) == ("redis for chunk KV", Level.FAIL)
    assert "PREREAD_KV_REDIS_URL" in finding.hint


@pytest.mark.parametrize(
    ("queue", "kv"),
    [
        ("redis://queue:6379/0", "redis://queue:6379/0"),
        ("redis://:secret@queue/0", "redis://queue:6379/1"),
        ("", "unix://{socket}?db=1"),
    ],
)
def test_the_queues_redis_is_not_one_for_chunk_kv(settings, queue, kv):
    finding = check_kv_redis(with_redis(settings, kv.format(socket=settings.redis_socket), redis_url=queue))
    assert (finding.name, finding.level) == ("redis for chunk KV", Level.FAIL)
    assert "is the queue's Redis" in finding.message
    assert "another Redis server" in finding.hint


def test_a_disk_with_room_is_fine_and_nothing_is_made_on_it(settings, tmp_path):
    small = settings.model_copy(update={"kv_disk_bytes": 1000})
    finding = check_kv_disk(small)
    assert (finding.name, finding.level) == ("disk for chunk KV", Level.OK), finding
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_cannot_be_written_to_is_named(settings, tmp_path):
    (tmp_path / "file").touch()
    finding = check_kv_disk(settings.model_copy(update={"kv_dir": tmp_path / "file" / "kv"}))
    assert (finding.name, finding.level) == ("disk for chunk KV", Level.FAIL)
    assert "There can be no folder" in finding.message
    assert "PREREAD_KV_DIR" in finding.hint


def test_a_disk_that_is_all_but_full_is_named(settings, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 2**20}))
    finding = check_kv_disk(settings)
    assert (finding.name, finding.level) == ("disk for chunk KV", Level.FAIL)
    assert "Only 1.0 MiB are left" in finding.message
    assert "PREREAD_KV_DISK_BYTES" in finding.hint


def test_a_limit_beyond_what_the_disk_can_hold_is_named_and_what_is_kept_counts(settings):
    tier = DiskTier(settings.effective_kv_dir, 10**9)
    tier.put("t", "a" * 64, bytes(10**6))
    free = shutil.disk_usage(settings.state_dir).free
    finding = check_kv_disk(settings.model_copy(update={"kv_disk_bytes": free + GIB}))
    assert (finding.name, finding.level) == ("disk for chunk KV", Level.WARN)
    assert "chunk KV may take" in finding.message
    assert "PREREAD_KV_DISK_BYTES" in finding.hint


def test_what_is_kept_needs_no_room_any_more(settings, monkeypatch):
    DiskTier(settings.effective_kv_dir, 10**9).put("t", "a" * 64, bytes(10**6))
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 20 * 2**20}))
    limit = 20 * 2**20 + 10**6
    assert check_kv_disk(settings.model_copy(update={"kv_disk_bytes": limit})).level is Level.OK
    assert check_kv_disk(settings.model_copy(update={"kv_disk_bytes": limit + 1})).level is Level.WARN


def test_a_replica_needs_a_disk_and_a_bucket_that_it_can_read(settings, server):
    replica = settings.model_copy(update={"kv_read_only": True, "kv_object_url": "s3://bucket/kv"})
    assert check_kv_disk(replica).level is Level.FAIL
    DiskTier(settings.effective_kv_dir, 10**9).close()
    assert "only read here" in check_kv_disk(replica).message
    assert check_kv_object(replica).message == "s3://bucket/kv can be read"
    assert server.names() == []


def test_a_bucket_that_can_be_written_to_is_fine_and_left_empty(settings, server):
    finding = check_kv_object(settings.model_copy(update={"kv_object_url": "s3://bucket/kv"}))
    assert finding.level is Level.OK, finding
    assert server.names() == []


def test_a_bucket_that_is_not_there_is_named(settings, server):
    finding = check_kv_object(settings.model_copy(update={"kv_object_url": "s3://another/kv"}))
    assert (finding.name, finding.level) == ("object store for chunk KV", Level.FAIL)
    assert "no such bucket" in finding.message
    assert "PREREAD_KV_OBJECT_URL" in finding.hint


def test_a_url_that_is_none_is_named(settings):
    assert check_kv_object(settings.model_copy(update={"kv_object_url": "bucket"})).level is Level.FAIL


def test_a_key_is_one_or_is_refused_without_being_shown(settings):
    good = base64.b64encode(bytes(32)).decode()
    assert check_encryption(settings.model_copy(update={"kv_encryption_key": SecretStr(good)})).message == "on"
    finding = check_encryption(settings.model_copy(update={"kv_encryption_key": SecretStr("hunter2")}))
    assert (finding.name, finding.level) == ("encryption of chunk KV", Level.FAIL)
    assert "hunter2" not in finding.message + finding.hint
