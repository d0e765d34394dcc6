"""A chunk at two levels: each is stored and got by itself, and no deletion forgets one."""

import pytest
from kv_samples import make_identity, make_kv
from memory_tier import MemoryTier

from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.decoded import DecodedChunks
from kvstore.errors import BadName, TierDown
from kvstore.key import compact_key
from kvstore.levels import Level, at_all_levels, at_level
from kvstore.store import ChunkStore, Hit, Stored
from kvstore.tiers.disk import DiskTier

HOT = make_identity()
COMPACT = at_level(HOT, Level.COMPACT)
KEY = HOT.key
BLOBS = {level: encode_blob(make_kv(), at_level(HOT, level), LOSSLESS) for level in Level}


class SharedTier(MemoryTier):
    name = "shared"
    shared = True


class SometimesDown(SharedTier):
    down = False

    def delete(self, tenant, key):
        if self.down:
            raise TierDown("The tier is down.")
        return super().delete(tenant, key)


@pytest.fixture
def tiers(tmp_path):
    """Each holds both levels."""
    tiers = [MemoryTier(10**6), SometimesDown(10**6), DiskTier(tmp_path, 10**6)]
    for tier in tiers:
        for level, data in BLOBS.items():
            tier.put("t", at_level(HOT, level).key, data)
    return tiers


def left(tiers):
    return sum(tier.stats().entries for tier in tiers)


def test_a_compact_key_follows_from_the_key_and_never_changes_between_versions():
    assert compact_key("11" * 32) == "de3a4c90b4faa886fa246fa72bb66ea4f6def409a0daa043b70554c39dff8ada"
    assert len({KEY, compact_key(KEY), compact_key(compact_key(KEY))}) == 3


def test_what_is_no_key_has_no_compact_key():
    for wrong in ("", "11", "../" + "a" * 61, "G" * 64):
        with pytest.raises(BadName):
            compact_key(wrong)


def test_a_level_says_in_its_header_under_which_key_it_lies():
    assert at_level(HOT, Level.HOT) == HOT
    assert COMPACT.key == compact_key(KEY)
    assert COMPACT.ids_hash == HOT.ids_hash
    assert at_all_levels([KEY]) == {KEY: KEY, COMPACT.key: KEY}


@pytest.mark.parametrize("level", Level)
def test_each_level_is_got_by_itself(tmp_path, level):
    store = ChunkStore([DiskTier(tmp_path, 10**6)])
    store.put("t", BLOBS[level])
    assert [isinstance(store.get("t", at_level(HOT, each)), Hit) for each in Level] == [each is level for each in Level]


@pytest.mark.parametrize("level", Level)
def test_a_chunk_at_either_level_is_there(tmp_path, level):
    store = ChunkStore([MemoryTier(10**6), DiskTier(tmp_path, 10**6)])
    store.put("t", BLOBS[level])
    assert store.contains("t", [KEY, "9" * 64]) == {KEY}


def test_deleting_a_chunk_deletes_every_level_in_every_tier(tiers):
    assert ChunkStore(tiers).delete("t", [KEY]) == 1
    assert left(tiers) == 0


@pytest.mark.parametrize("level", Level)
def test_a_chunk_of_which_one_level_is_left_is_deleted(tmp_path, level):
    store = ChunkStore([DiskTier(tmp_path, 10**6)])
    store.put("t", BLOBS[level])
    assert store.delete("t", [KEY]) == 1
    assert store.contains("t", [KEY]) == set()


def test_when_a_tier_is_down_the_others_lose_every_level_and_a_second_call_finishes_the_work(tiers):
    store, flaky = ChunkStore(tiers), tiers[1]
    flaky.down = True
    with pytest.raises(TierDown):
        store.delete("t", [KEY])
    assert left(tiers) == flaky.stats().entries == 2
    flaky.down = False
    assert store.delete("t", [KEY]) == 1
    assert left(tiers) == 0


def test_memory_forgets_every_level_too():
    decoded = DecodedChunks(10**6)
    for level in Level:
        decoded.put("t", at_level(HOT, level), make_kv(), decoded.deletions)
    decoded.delete("t", [KEY])
    assert decoded.nbytes == 0
    assert all(decoded.get("t", at_level(HOT, level)) is None for level in Level)


def test_sizes_are_those_of_the_first_tier_that_has_a_blob(tmp_path):
    fast, lasting = SharedTier(10**6), DiskTier(tmp_path, 10**6)
    lasting.put("t", KEY, b"12345")
    lasting.put("t", COMPACT.key, b"123")
    fast.put("t", COMPACT.key, b"12")
    found = ChunkStore([fast, lasting]).sizes("t", [KEY, COMPACT.key, "9" * 64])
    assert found == {KEY: Stored("disk", 5), COMPACT.key: Stored("shared", 2)}


def test_sizes_pass_over_a_tier_that_is_down(tmp_path):
    class Down(SharedTier):
        def sizes(self, tenant, keys):
            raise TierDown("The tier is down.")

    lasting = DiskTier(tmp_path, 10**6)
    lasting.put("t", KEY, b"12345")
    assert ChunkStore([Down(10), lasting]).sizes("t", [KEY]) == {KEY: Stored("disk", 5)}
