"""What is put reaches every tier, slow ones a moment later, and none once the right to write has ended."""

import threading

import pytest
from kv_samples import make_identity, make_kv
from memory_tier import MemoryTier

from app.core.errors import Conflict
from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import TierDown
from kvstore.key import compact_key
from kvstore.store import ChunkStore, Hit
from kvstore.tiers.disk import DiskTier

IDENTITY = make_identity()
KEY = IDENTITY.key
DATA = encode_blob(make_kv(), IDENTITY, LOSSLESS)
LIMIT = 10**6


class Ended(Conflict):
    code = "ended"


class SlowTier(MemoryTier):
    """Its writes wait until `open` is set."""

    name = "slow"
    shared = True
    slow = True

    def __init__(self):
        super().__init__(LIMIT)
        self.begun, self.open = threading.Event(), threading.Event()

    def put(self, tenant, key, data, worth=None):
        self.begun.set()
        assert self.open.wait(60)
        super().put(tenant, key, data, worth)


class UnwritableTier(MemoryTier):
    name = "unwritable"
    shared = True
    writable = False

    def put(self, tenant, key, data, worth=None):
        raise AssertionError("nothing is put here")

    def delete(self, tenant, key):
        raise TierDown("This process only reads.")


@pytest.fixture
def disk(tmp_path):
    return DiskTier(tmp_path, LIMIT)


@pytest.fixture
def slow():
    return SlowTier()


def test_nobody_waits_for_a_slow_tier_that_another_has_taken_it(disk, slow):
    store = ChunkStore([disk, slow])
    assert store.put("t", DATA) == ("disk",)
    assert not slow.contains("t", [KEY])
    slow.open.set()
    store.settle()
    assert slow.get("t", KEY) == DATA


def test_a_slow_tier_alone_is_waited_for(slow):
    slow.open.set()
    assert ChunkStore([slow]).put("t", DATA) == ("slow",)
    assert slow.get("t", KEY) == DATA


def test_a_blob_deleted_while_it_is_on_its_way_to_a_slow_tier_does_not_arrive(disk, slow):
    store = ChunkStore([disk, slow])
    store.put("t", DATA)
    assert slow.begun.wait(60)
    threading.Timer(0.05, slow.open.set).start()
    assert store.delete("t", [KEY]) == 1
    store.settle()
    assert not slow.contains("t", [KEY])
    assert not disk.contains("t", [KEY])


def test_a_blob_deleted_before_it_is_on_its_way_is_not_sent(disk, slow):
    store = ChunkStore([disk, slow])
    other = make_identity(2)
    store.put("t", encode_blob(make_kv(), other, LOSSLESS))
    assert slow.begun.wait(60)
    store.put("t", DATA)
    store.delete("t", [KEY])
    slow.open.set()
    store.settle()
    assert slow.contains("t", [KEY, other.key, compact_key(KEY)]) == {other.key}


def test_whose_right_has_ended_puts_nothing(disk, slow):
    def ended():
        raise Ended("The document is being deleted.")

    with pytest.raises(Ended):
        ChunkStore([disk, slow]).put("t", DATA, ended)
    assert not disk.contains("t", [KEY])
    assert not slow.begun.is_set()


def test_a_right_that_ends_before_the_slow_write_begins_keeps_it_from_being_made(disk, slow):
    rights = iter([None])

    def fence():
        if next(rights, Ended) is Ended:
            raise Ended("The document is being deleted.")

    store = ChunkStore([disk, slow])
    assert store.put("t", DATA, fence) == ("disk",)
    store.settle()
    assert not slow.begun.is_set()
    assert disk.contains("t", [KEY])


def test_a_slow_tier_that_is_down_harms_nobody(disk):
    class Down(SlowTier):
        def put(self, tenant, key, data, worth=None):
            raise TierDown("It is down.")

    store = ChunkStore([disk, Down()])
    assert store.put("t", DATA) == ("disk",)
    store.settle()
    assert isinstance(store.get("t", IDENTITY), Hit)


def test_what_is_found_is_not_copied_into_a_tier_that_may_not_be_written(disk):
    disk.put("t", KEY, DATA)
    store = ChunkStore([UnwritableTier(LIMIT), disk])
    assert isinstance(store.get("t", IDENTITY), Hit)
    store.settle()


def test_a_damaged_blob_that_may_not_be_dropped_is_a_miss_all_the_same(disk):
    unwritable = UnwritableTier(LIMIT)
    MemoryTier.put(unwritable, "t", KEY, DATA[:-1])
    disk.put("t", KEY, DATA)
    found = ChunkStore([unwritable, disk]).get("t", IDENTITY)
    assert isinstance(found, Hit)
    assert found.tier == "disk"
