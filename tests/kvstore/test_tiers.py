"""Every tier keeps the same promises."""

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from memory_tier import MemoryTier
from object_server import BUCKET, ObjectServer

from kvstore.errors import BadName, TierDown, TooLarge
from kvstore.tiers.base import Tier
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.object import ObjectTier
from kvstore.tiers.redis import RedisTier

A, B, C = "a" * 64, "b" * 64, "c" * 64


class Clock:
    def __init__(self) -> None:
        self.now = 10**18

    def __call__(self) -> int:
        self.now += 1
        return self.now


@pytest.fixture(scope="module")
def object_server():
    server = ObjectServer()
    yield server
    server.stop()


@pytest.fixture(params=["memory", "disk", "redis", "object"])
def tier(request, tmp_path) -> Tier:
    if request.param == "memory":
        return MemoryTier(1000)
    if request.param == "disk":
        return DiskTier(tmp_path / "kv", 1000)
    if request.param == "object":
        server = request.getfixturevalue("object_server")
        server.empty()
        return ObjectTier(f"s3://{BUCKET}/prefix", limit_bytes=1000, options=server.options)
    url = request.getfixturevalue("redis_url")
    redis.Redis.from_url(url).flushall()
    return RedisTier(url, ttl_seconds=60)


@pytest.fixture(params=["memory", "disk"])
def small_tier(request, tmp_path) -> Tier:
    return MemoryTier(100) if request.param == "memory" else DiskTier(tmp_path / "kv", 100, Clock())


def test_what_is_put_is_found_until_it_is_deleted(tier):
    assert tier.get("t", A) is None
    tier.put("t", A, b"one")
    assert tier.get("t", A) == b"one"
    assert tier.delete("t", A)
    assert tier.get("t", A) is None
    assert not tier.delete("t", A)


def test_a_second_put_replaces_the_first(tier):
    tier.put("t", A, b"one")
    tier.put("t", A, memoryview(b"three"))
    assert tier.get("t", A) == b"three"
    assert (tier.stats().entries, tier.stats().bytes) == (1, 5)


def test_another_tenants_entries_are_not_found(tier):
    tier.put("one", A, b"secret")
    assert tier.get("two", A) is None
    assert tier.contains("two", [A]) == set()
    assert not tier.delete("two", A)
    assert tier.get("one", A) == b"secret"


def test_contains_names_those_that_are_there(tier):
    tier.put("t", A, b"x")
    tier.put("t", C, b"x")
    assert tier.contains("t", [A, B, C]) == {A, C}
    assert tier.contains("t", []) == set()


def test_sizes_are_those_of_what_is_there(tier):
    tier.put("t", A, b"123")
    tier.put("t", C, b"4567")
    assert tier.sizes("t", [A, B, C]) == {A: 3, C: 4}
    assert tier.sizes("t", []) == {}
    assert tier.sizes("another", [A]) == {}


def test_stats_count_all_tenants(tier):
    assert (tier.stats().entries, tier.stats().bytes) == (0, 0)
    tier.put("one", A, b"123")
    tier.put("two", A, b"4567")
    stats = tier.stats()
    assert (stats.name, stats.entries, stats.bytes) == (tier.name, 2, 7)


def test_entries_are_those_of_all_tenants_with_their_sizes_and_ages(tier):
    assert list(tier.entries()) == []
    tier.put("one", A, b"123")
    tier.put("two-2", B, b"4567")
    found = {(entry.tenant, entry.key): entry for entry in tier.entries()}
    assert {name: entry.nbytes for name, entry in found.items()} == {("one", A): 3, ("two-2", B): 4}
    ages = [time.time() - entry.written_at for entry in found.values() if entry.written_at is not None]
    assert len(ages) == (0 if tier.name == "memory" else 2)
    assert all(-30 < age < 30 for age in ages)


def test_entries_may_be_read_put_and_deleted_while_they_are_listed(tier):
    for key in (A, B, C):
        tier.put("t", key, b"x")
    seen = set()
    for entry in tier.entries():
        seen.add(entry.key)
        tier.peek("t", entry.key)
        tier.delete("t", C)
        tier.put("t", "d" * 64, b"y")
    assert {A, B} <= seen <= {A, B, C, "d" * 64}


def test_peek_is_get(tier):
    assert tier.peek("t", A) is None
    tier.put("t", A, b"one")
    assert tier.peek("t", A) == b"one"


@pytest.mark.parametrize(
    ("tenant", "key"),
    [
        ("t", "../" + "a" * 61),
        ("t", "a" * 63),
        ("t", "A" * 64),
        ("t", A + "\n"),
        ("..", A),
        ("", A),
        ("a/b", A),
        ("T", A),
    ],
)
def test_names_that_could_leave_the_namespace_are_refused(tier, tenant, key):
    several = (lambda t, k: tier.contains(t, [k]), lambda t, k: tier.sizes(t, [k]))
    for call in (tier.get, tier.peek, tier.delete, lambda t, k: tier.put(t, k, b""), *several):
        with pytest.raises(BadName):
            call(tenant, key)


def test_many_threads_never_see_half_an_entry(tier):
    contents = {bytes([number]) * 50 for number in range(8)}

    def work(content):
        for _ in range(20):
            tier.put("t", A, content)
            assert tier.get("t", A) in contents

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, contents))
    assert tier.stats().entries == 1


def test_the_least_recently_used_entry_goes_first(small_tier):
    small_tier.put("t", A, b"a" * 40)
    small_tier.put("t", B, b"b" * 40)
    small_tier.get("t", A)
    small_tier.put("t", C, b"c" * 40)
    assert small_tier.contains("t", [A, B, C]) == {A, C}
    assert small_tier.stats().bytes <= small_tier.stats().limit_bytes


def test_a_peek_leaves_an_entry_as_old_as_it_was(small_tier):
    small_tier.put("t", A, b"a" * 40)
    small_tier.put("t", B, b"b" * 40)
    assert small_tier.peek("t", A) == b"a" * 40
    small_tier.put("t", C, b"c" * 40)
    assert small_tier.contains("t", [A, B, C]) == {B, C}


def test_an_entry_larger_than_the_tier_is_refused_and_evicts_nothing(small_tier):
    small_tier.put("t", A, b"a" * 40)
    with pytest.raises(TooLarge):
        small_tier.put("t", B, b"b" * 101)
    assert small_tier.get("t", A) == b"a" * 40


def test_the_memory_tier_keeps_its_own_copy_of_a_buffer():
    tier = MemoryTier(100)
    buffer = bytearray(b"before")
    tier.put("t", A, memoryview(buffer))
    buffer[:] = b"after!"
    assert tier.get("t", A) == b"before"


def test_disk_entries_outlive_the_process(tmp_path):
    DiskTier(tmp_path, 100).put("t", A, b"kept")
    assert DiskTier(tmp_path, 100).get("t", A) == b"kept"
    assert (tmp_path / "t" / "aa" / f"{A}.kv").read_bytes() == b"kept"


def test_a_crashed_write_is_never_visible_and_is_swept_when_old(tmp_path):
    tier = DiskTier(tmp_path, 100)
    tier.put("t", A, b"kept")
    folder = tmp_path / "t" / "aa"
    old, fresh = folder / f".{A}.kv.01.tmp", folder / f".{A}.kv.02.tmp"
    old.write_bytes(b"half")
    fresh.write_bytes(b"half")
    os.utime(old, (1, 1))
    assert DiskTier(tmp_path, 100).stats().entries == 1
    assert sorted(folder.iterdir()) == sorted([fresh, folder / f"{A}.kv"])


def test_a_failed_disk_write_is_reported_and_leaves_the_old_entry(tmp_path, monkeypatch):
    tier = DiskTier(tmp_path, 100)
    tier.put("t", A, b"old")

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(TierDown, match="no space"):
        tier.put("t", A, b"new")
    assert tier.get("t", A) == b"old"
    assert len(list((tmp_path / "t" / "aa").iterdir())) == 1


def test_redis_entries_expire(redis_url):
    RedisTier(redis_url, ttl_seconds=60).put("t", A, b"x")
    client = redis.Redis.from_url(redis_url)
    (name,) = client.keys(f"*{A}")
    assert 0 < client.ttl(name) <= 60


def test_entries_of_others_in_the_same_redis_are_not_counted(redis_url):
    client = redis.Redis.from_url(redis_url)
    client.flushall()
    client.set("celery", b"x" * 100)
    tier = RedisTier(redis_url, ttl_seconds=60)
    tier.put("t", A, b"123")
    client.set("preread:kv:T:" + A, b"not ours")
    client.set("preread:kv:t:" + B, b"put by hand: it has no end")
    assert [(entry.key, entry.written_at is None) for entry in tier.entries()] in (
        [(A, False), (B, True)],
        [(B, True), (A, False)],
    )
    client.delete("preread:kv:T:" + A, "preread:kv:t:" + B)
    assert (tier.stats().entries, tier.stats().bytes) == (1, 3)


def test_a_full_redis_is_down_for_writing_only(redis_url):
    client = redis.Redis.from_url(redis_url)
    tier = RedisTier(redis_url, ttl_seconds=60)
    tier.put("t", A, b"x")
    client.config_set("maxmemory", 1)
    try:
        with pytest.raises(TierDown, match="refuses"):
            tier.put("t", B, b"y")
        assert tier.get("t", A) == b"x"
    finally:
        client.config_set("maxmemory", 0)


def test_a_dead_redis_is_down_and_is_left_alone_for_a_while(tmp_path):
    now = 0.0
    tier = RedisTier(f"unix://{tmp_path}/none.sock", ttl_seconds=60, pause_seconds=5, clock=lambda: now)
    for call in (
        lambda: tier.get("t", A),
        lambda: tier.put("t", A, b""),
        lambda: tier.delete("t", A),
        lambda: tier.contains("t", [A]),
        lambda: tier.sizes("t", [A]),
        tier.stats,
        lambda: list(tier.entries()),
    ):
        now += 10
        with pytest.raises(TierDown, match="does not answer"):
            call()
        now += 4
        with pytest.raises(TierDown, match="a moment ago"):
            call()


def test_a_silent_redis_is_given_up_after_the_timeout(tmp_path):
    path = tmp_path / "silent.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        tier = RedisTier(f"unix://{path}", ttl_seconds=60, timeout_seconds=0.1)
        before = time.monotonic()
        with pytest.raises(TierDown):
            tier.get("t", A)
        assert time.monotonic() - before < 5
