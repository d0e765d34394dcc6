"""A process that only reads chunk KV finds what others stored and leaves every tier as it is."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest
from kv_samples import make_identity, make_kv
from object_server import BUCKET, ObjectServer
from redis import Redis

from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import ReadOnlyStore
from kvstore.store import ChunkStore, Hit
from kvstore.tiers.base import Tier
from kvstore.tiers.configured import TierOptions, configured_tiers
from kvstore.tiers.disk import DiskTier

A, B = "a" * 64, "b" * 64
KEY = base64.b64encode(bytes(32)).decode()
IDENTITY = make_identity()
DATA = encode_blob(make_kv(), IDENTITY, LOSSLESS)


@pytest.fixture(scope="module")
def object_server():
    server = ObjectServer()
    yield server
    server.stop()


@pytest.fixture(params=["redis", "disk", "object"])
def options(request, tmp_path, monkeypatch) -> TierOptions:
    """One tier that is on."""
    if request.param == "disk":
        return TierOptions(str(tmp_path / "kv"), 10**6)
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        with Redis.from_url(url) as client:
            client.flushall()
        return TierOptions("", 0, redis_url=url)
    server = request.getfixturevalue("object_server")
    server.empty()
    for name, value in server.options.items():
        monkeypatch.setenv(name.upper(), value)
    return TierOptions("", 0, object_url=f"s3://{BUCKET}/kv")


def written_and_read(options: TierOptions, key: str = "") -> tuple[Tier, Tier]:
    (written,) = configured_tiers(options, key)
    (read,) = configured_tiers(replace(options, read_only=True), key)
    return written, read


@pytest.mark.parametrize("key", ["", KEY])
def test_what_others_stored_is_found(options, key):
    written, read = written_and_read(options, key)
    written.put("t", A, b"stored")
    assert (read.name, read.shared, read.slow, read.writable) == (written.name, written.shared, written.slow, False)
    assert read.get("t", A) == read.peek("t", A) == b"stored"
    assert read.get("t", B) is None
    assert read.contains("t", [A, B]) == {A}
    assert read.sizes("t", [A, B]) == written.sizes("t", [A])
    assert [entry.key for entry in read.entries()] == [A]
    assert (read.stats().entries, read.stats().bytes) == (1, written.stats().bytes)


def test_nothing_is_stored_or_deleted_and_the_refusal_says_who_does(options):
    written, read = written_and_read(options)
    written.put("t", A, b"stored")
    for call in (lambda: read.put("t", A, b"other"), lambda: read.delete("t", A)):
        with pytest.raises(ReadOnlyStore, match=f"in the {read.name} tier is only read") as told:
            call()
        assert "PREREAD_KV_READ_ONLY" in told.value.hint
        assert told.value.code == "read_only_store"
    read.lease("t", [A], "reader", 10)
    read.release("reader")
    assert written.get("t", A) == b"stored"


def test_a_folder_that_is_only_read_is_left_as_it_is(tmp_path):
    options = TierOptions(str(tmp_path / "kv"), 10**6, read_only=True)
    (missing,) = configured_tiers(options, "")
    assert (missing.get("t", A), missing.stats().entries) == (None, 0)
    assert not (tmp_path / "kv").exists()

    writer = DiskTier(tmp_path / "kv", 10**6)
    writer.put("t", A, b"stored")
    writer.close()
    (tmp_path / "kv" / "t" / "aa" / f".{A}.kv.01.tmp").write_bytes(b"half")
    before = state_of(tmp_path)
    (read,) = configured_tiers(replace(options, disk_ttl_seconds=1000), "")
    for _ in range(40):
        assert read.get("t", A) == b"stored"
    read.lease("t", [A], "reader", 10)
    assert read.stats().bytes == 6
    assert state_of(tmp_path) == before


def state_of(folder: Path) -> dict[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def test_expired_objects_are_not_found_and_stay_for_who_may_delete_them(object_server, monkeypatch):
    object_server.empty()
    for name, value in object_server.options.items():
        monkeypatch.setenv(name.upper(), value)
    options = TierOptions("", 0, object_url=f"s3://{BUCKET}/kv", object_ttl_seconds=60)
    written, read = written_and_read(options)
    written.put("t", A, b"old")
    (name,) = object_server.names()
    object_server.make_older(name, 120)
    assert read.get("t", A) is None
    assert read.contains("t", [A]) == set()
    assert object_server.names() == [name]
    assert written.get("t", A) is None
    assert object_server.names() == []


def test_a_hit_of_a_replica_is_copied_nowhere_and_a_damaged_blob_is_a_miss(tmp_path, redis_url):
    options = TierOptions(str(tmp_path), 10**6, redis_url=redis_url)
    with Redis.from_url(redis_url) as client:
        client.flushall()
    redis, disk = configured_tiers(options, "")
    disk.put("t", IDENTITY.key, DATA)
    replica = ChunkStore(configured_tiers(replace(options, read_only=True), ""))
    found = replica.get("t", IDENTITY)
    assert isinstance(found, Hit)
    replica.settle()
    assert redis.stats().entries == 0
    disk.put("t", IDENTITY.key, DATA[:-1])
    assert not isinstance(replica.get("t", IDENTITY), Hit)
    assert disk.contains("t", [IDENTITY.key])
