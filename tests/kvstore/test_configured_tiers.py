"""The tiers are those that the settings ask for, and no key leaves them."""

import base64
import json
from dataclasses import replace

import pytest

from app.core.errors import BadInput
from app.core.settings import Settings
from generator.engine_config import EngineConfig
from kvstore.errors import TierDown
from kvstore.eviction import Eviction
from kvstore.tiers.configured import TierOptions, configured_tiers

KEY = base64.b64encode(bytes(range(32))).decode()
A = "a" * 64


@pytest.fixture
def options(tmp_path) -> TierOptions:
    return TierOptions(str(tmp_path / "kv"), 1000)


def names(options):
    return [tier.name for tier in configured_tiers(options, "")]


def test_any_subset_in_order_of_speed(options):
    everything = replace(options, redis_url="unix:///none.sock", object_url="s3://bucket/prefix")
    assert names(everything) == ["redis", "disk", "object"]
    assert names(options) == ["disk"]
    assert names(replace(everything, disk_bytes=0)) == ["redis", "object"]
    assert names(replace(options, disk_bytes=0)) == []


def test_every_setting_reaches_its_tier(tmp_path):
    told = {
        "kv_dir": tmp_path,
        "kv_disk_bytes": 1,
        "kv_disk_ttl_seconds": 2,
        "kv_eviction": "lru",
        "kv_redis_url": "redis://r",
        "kv_redis_ttl_seconds": 3,
        "kv_object_url": "s3://b/p",
        "kv_object_bytes": 4,
        "kv_object_ttl_seconds": 5,
        "kv_object_timeout_seconds": 6.0,
        "kv_read_only": True,
    }
    options = TierOptions.from_settings(Settings(state_dir=tmp_path, **told))
    assert options == TierOptions(str(tmp_path), 1, 2, Eviction.LRU, "redis://r", 3, "s3://b/p", 4, 5, 6.0, True)
    assert TierOptions.from_json(json.loads(json.dumps(options.__dict__))) == options


def test_the_disk_keeps_what_the_eviction_says(options):
    tiers = {eviction: configured_tiers(replace(options, dir=options.dir + eviction, eviction=eviction), "")[0]
             for eviction in Eviction}  # fmt: skip
    for tier in tiers.values():
        tier.put("t", A, b"a" * 400)
        for _ in range(3):
            tier.get("t", A)
        tier.put("t", "b" * 64, b"b" * 400)
        tier.put("t", "c" * 64, b"c" * 400)
    assert tiers[Eviction.VALUE].contains("t", [A]) == {A}
    assert tiers[Eviction.LRU].contains("t", [A]) == set()


def test_with_a_key_every_tier_is_sealed(options, tmp_path):
    (sealed,) = configured_tiers(options, KEY)
    sealed.put("t", A, b"what the document says")
    (path,) = tmp_path.glob("kv/t/*/*.kv")
    assert b"document" not in path.read_bytes()
    assert sealed.get("t", A) == b"what the document says"
    (plain,) = configured_tiers(options, "")
    assert plain.get("t", A) == path.read_bytes()


def test_a_key_that_is_none_and_a_url_that_is_none_are_told(options):
    with pytest.raises(BadInput) as told:
        configured_tiers(options, "hunter2")
    assert "hunter2" not in str(told.value)
    with pytest.raises(TierDown, match="ftp"):
        configured_tiers(replace(options, object_url="ftp://bucket"), "")
    with pytest.raises(TierDown) as told:
        configured_tiers(replace(options, redis_url="localhost:6379"), "")
    assert "PREREAD_KV_REDIS_URL" in told.value.hint


def test_the_engine_is_told_the_tiers_but_not_the_key(tmp_path):
    settings = Settings(
        state_dir=tmp_path, kv_encryption_key=KEY, kv_object_url="s3://b/p", kv_eviction="lru", kv_read_only=True
    )
    config = EngineConfig.from_settings(settings, "f" * 64)
    passed = json.dumps(config.to_json())
    assert KEY not in passed
    assert EngineConfig.from_json(json.loads(passed)) == config
    assert config.tiers.object_url == "s3://b/p"
    assert config.tiers.read_only


def test_where_chunk_kv_is_only_read_every_tier_says_so(options):
    everything = replace(options, redis_url="unix:///none.sock", object_url="s3://bucket/prefix", read_only=True)
    assert [tier.writable for tier in configured_tiers(everything, KEY)] == [False] * 3
