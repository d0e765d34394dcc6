"""Whatever dies, what the other tiers hold is found, a dead tier costs one time-out, and it comes back by itself."""

from collections.abc import Callable

import pytest
from kv_samples import make_identity, make_kv
from mortal_redis import MortalRedis
from object_server import BUCKET, ObjectServer
from waiting import wait_until

from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import TierDown
from kvstore.reasons import StoreMiss
from kvstore.store import ChunkStore, Hit, Miss
from kvstore.tiers.configured import TierOptions, configured_tiers
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.object import ObjectTier
from kvstore.tiers.redis import RedisTier

IDENTITY, OTHER = make_identity(1), make_identity(2)
BLOB, OTHERS_BLOB = (encode_blob(make_kv(), identity, LOSSLESS) for identity in (IDENTITY, OTHER))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def redis(tmp_path):
    redis = MortalRedis(tmp_path)
    yield redis
    redis.kill()


@pytest.fixture
def objects():
    server = ObjectServer()
    yield server
    server.stop()


@pytest.fixture
def disk(tmp_path, clock) -> DiskTier:
    return DiskTier(tmp_path / "kv", 10**6, monotonic=clock)


def found_in(store: ChunkStore, identity=IDENTITY) -> str | None:
    found = store.get("t", identity)
    return found.tier if isinstance(found, Hit) else None


def counting(monkeypatch, client, name: str) -> list[None]:
    asked: list[None] = []
    ask: Callable = getattr(client, name)

    def count(*arguments, **options):
        asked.append(None)
        return ask(*arguments, **options)

    monkeypatch.setattr(client, name, count)
    return asked


def test_redis_dies_and_comes_back(redis, disk, clock, monkeypatch):
    tier = RedisTier(redis.url, 60, clock=clock)
    store = ChunkStore([tier, disk])
    store.put("t", BLOB)
    assert found_in(store) == "redis"
    redis.kill()
    asked = counting(monkeypatch, tier._client, "get")
    assert [found_in(store) for _ in range(5)] == ["disk"] * 5
    assert len(asked) == 1, "it was asked again although it had just been silent"
    assert store.put("t", OTHERS_BLOB) == ("disk",)
    redis.start()
    assert found_in(store) == "disk"
    clock.now += 6
    assert found_in(store) == "disk", "it has lost everything"
    store.settle()
    assert found_in(store) == "redis"


def test_an_object_store_dies_and_comes_back(objects, disk, clock):
    store = ChunkStore([disk, ObjectTier(f"s3://{BUCKET}/kv", options=objects.options, monotonic=clock)])
    store.put("t", BLOB)
    store.settle()
    disk.delete("t", IDENTITY.key)
    objects.stop()
    assert store.get("t", IDENTITY) == Miss(StoreMiss.TIER_DOWN)
    assert store.put("t", OTHERS_BLOB) == ("disk",)
    store.settle()
    assert found_in(store, OTHER) == "disk"
    objects.start_again()
    assert store.get("t", IDENTITY) == Miss(StoreMiss.TIER_DOWN)
    clock.now += 61
    assert found_in(store) == "object"
    store.settle()
    assert found_in(store) == "disk"


def test_a_disk_that_is_gone_is_passed_over_until_it_is_back(redis, disk, clock, tmp_path):
    store = ChunkStore([disk, RedisTier(redis.url, 60)])
    store.put("t", BLOB)
    (tmp_path / "kv").rename(tmp_path / "away")
    (tmp_path / "kv").touch()
    assert found_in(store) == "redis"
    assert store.put("t", OTHERS_BLOB) == ("redis",)
    (tmp_path / "kv").unlink()
    (tmp_path / "away").rename(tmp_path / "kv")
    clock.now += 2
    assert found_in(store) == "disk"
    assert found_in(store, OTHER) == "redis"
    store.settle()
    assert found_in(store, OTHER) == "disk"


def test_all_tiers_may_be_dead_at_the_start(objects, tmp_path, monkeypatch):
    for name, value in objects.options.items():
        monkeypatch.setenv(name.upper(), value)
    objects.stop()
    (tmp_path / "kv").touch()
    options = TierOptions(
        str(tmp_path / "kv"), 10**6, redis_url=f"unix://{tmp_path}/kv.sock", object_url=f"s3://{BUCKET}/kv"
    )
    store = ChunkStore(configured_tiers(options, ""))
    assert store.get("t", IDENTITY) == Miss(StoreMiss.TIER_DOWN)
    assert store.sizes("t", [IDENTITY.key]) == {}
    assert store.stats() == ()
    store.release(store.lease("t", [IDENTITY.key], 30))

    (tmp_path / "kv").unlink()
    redis = MortalRedis(tmp_path)
    wait_until(lambda: stored_in(store) == ("redis", "disk"), "both take it", 30)
    store.settle()
    redis.kill()
    objects.start_again()


def stored_in(store: ChunkStore) -> tuple[str, ...]:
    try:
        return store.put("t", BLOB)
    except TierDown:
        return ()
