"""The store hands out what was asked for, whole, or says why not."""

import threading

import pytest
from kv_samples import make_identity, make_kv, same_bits
from memory_tier import MemoryTier

from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS, PLAIN
from kvstore.errors import BadName, CorruptBlob, TierDown, TooLarge
from kvstore.key import compact_key
from kvstore.reasons import StoreMiss
from kvstore.store import ChunkStore, Hit, Miss
from kvstore.tiers.disk import DiskTier

IDENTITY = make_identity()
KEY = IDENTITY.key
DATA = encode_blob(make_kv(), IDENTITY, LOSSLESS)
DAMAGED = DATA[:-1] + bytes([DATA[-1] ^ 1])
FOREIGN = encode_blob(make_kv(), make_identity(model_fingerprint="9" * 64), LOSSLESS)
LIMIT = 10**6


class SharedMemoryTier(MemoryTier):
    name = "shared"
    shared = True


class DownTier:
    name = "down"
    shared = True
    writable = True
    slow = False

    def _down(self, *_):
        raise TierDown("The tier is down.")

    get = put = delete = contains = sizes = lease = release = stats = _down


@pytest.fixture
def memory():
    return MemoryTier(LIMIT)


@pytest.fixture
def shared():
    return SharedMemoryTier(LIMIT)


@pytest.fixture
def disk(tmp_path):
    return DiskTier(tmp_path, LIMIT)


def test_a_stored_blob_is_found(memory, disk):
    store = ChunkStore([memory, disk])
    assert store.put("t", DATA) == ("disk",)
    found = store.get("t", IDENTITY)
    assert isinstance(found, Hit)
    assert found.tier == "disk"
    assert same_bits(found.blob.decode(LOSSLESS), make_kv())


def test_a_hit_moves_into_the_faster_tiers(memory, shared, disk):
    store = ChunkStore([memory, shared, disk])
    disk.put("t", KEY, DATA)
    assert store.get("t", IDENTITY).tier == "disk"
    store.settle()
    assert shared.get("t", KEY) == DATA
    assert store.get("t", IDENTITY).tier == "memory"


def test_a_hit_does_not_wait_for_slow_tiers_before_it(disk):
    written = threading.Event()

    class Slow(SharedMemoryTier):
        def put(self, tenant, key, data, worth=None):
            written.wait(60)
            super().put(tenant, key, data, worth)

    slow = Slow(LIMIT)
    store = ChunkStore([slow, disk])
    disk.put("t", KEY, DATA)
    assert store.get("t", IDENTITY).tier == "disk"
    assert not slow.contains("t", [KEY])
    written.set()
    store.settle()
    assert slow.get("t", KEY) == DATA


def test_a_lease_reaches_every_tier_at_every_level(disk):
    leased = []

    class Leasing(SharedMemoryTier):
        def lease(self, tenant, keys, reader, seconds):
            leased.append((tenant, set(keys), reader, seconds))

        def release(self, reader):
            leased.remove(next(lease for lease in leased if lease[2] == reader))

    store = ChunkStore([DownTier(), Leasing(LIMIT), disk])
    reader = store.lease("t", [KEY], 5)
    assert leased == [("t", {KEY, compact_key(KEY)}, reader, 5)]
    store.release(reader)
    assert not leased


def test_what_computing_would_take_is_what_a_blob_is_worth():
    """A lossless blob saves as much as a smaller one of the same chunk, so less for its bytes."""
    worths = []

    class Asking(SharedMemoryTier):
        def put(self, tenant, key, data, worth=None):
            worths.append(worth)

    store = ChunkStore([Asking(LIMIT)])
    store.put("t", DATA)
    store.put("t", encode_blob(make_kv(), IDENTITY, PLAIN["kivi4"]))
    assert worths == [make_kv().nbytes] * 2


def test_an_empty_store_misses(memory, disk):
    assert ChunkStore([memory, disk]).get("t", IDENTITY) == Miss(StoreMiss.ABSENT)
    assert ChunkStore([]).get("t", IDENTITY) == Miss(StoreMiss.ABSENT)


def test_another_tenant_misses(disk):
    store = ChunkStore([disk])
    store.put("one", DATA)
    assert store.get("two", IDENTITY) == Miss(StoreMiss.ABSENT)


@pytest.mark.parametrize("bad", [DAMAGED, FOREIGN, DATA[:100], b"", b"garbage" * 100])
def test_a_bad_blob_is_dropped_and_never_handed_out(shared, disk, bad):
    store = ChunkStore([shared, disk])
    disk.put("t", KEY, bad)
    assert store.get("t", IDENTITY) == Miss(StoreMiss.CORRUPT)
    assert disk.get("t", KEY) is None
    assert store.get("t", IDENTITY) == Miss(StoreMiss.ABSENT)


def test_a_bad_blob_is_replaced_from_the_next_tier(memory, disk):
    memory.put("t", KEY, DAMAGED)
    disk.put("t", KEY, DATA)
    assert ChunkStore([memory, disk]).get("t", IDENTITY).tier == "disk"
    assert memory.get("t", KEY) == DATA


@pytest.mark.parametrize(
    "wanted",
    [
        make_identity(ids_hash="9" * 64),
        make_identity(model_fingerprint="9" * 64),
        make_identity(preamble_hash="9" * 64),
        make_identity(profile_id="9" * 32),
    ],
)
def test_a_blob_of_something_else_under_the_wanted_key_is_a_miss(disk, wanted):
    store = ChunkStore([disk])
    store.put("t", DATA)
    assert store.get("t", wanted) == Miss(StoreMiss.CORRUPT)


def test_a_tier_that_is_down_is_passed_over(disk):
    store = ChunkStore([DownTier(), disk])
    assert store.put("t", DATA) == ("disk",)
    assert store.get("t", IDENTITY).tier == "disk"
    assert store.contains("t", [KEY]) == {KEY}
    assert [stats.name for stats in store.stats()] == ["disk"]


def test_a_miss_says_that_a_tier_was_down(disk):
    store = ChunkStore([DownTier(), disk])
    assert store.get("t", IDENTITY) == Miss(StoreMiss.TIER_DOWN)
    disk.put("t", KEY, DAMAGED)
    assert store.get("t", IDENTITY) == Miss(StoreMiss.CORRUPT)


def test_when_no_tier_answers_the_caller_hears_of_it():
    store = ChunkStore([DownTier()])
    assert store.get("t", IDENTITY) == Miss(StoreMiss.TIER_DOWN)
    for call in (lambda: store.put("t", DATA), lambda: store.contains("t", [KEY]), lambda: store.delete("t", [KEY])):
        with pytest.raises(TierDown):
            call()


@pytest.mark.parametrize("bad", [DAMAGED, DATA[:-1], b""])
def test_a_bad_blob_is_not_stored(disk, bad):
    with pytest.raises(CorruptBlob):
        ChunkStore([disk]).put("t", bad)
    assert disk.stats().entries == 0


def test_storing_needs_a_tier_that_others_see(memory):
    with pytest.raises(TierDown):
        ChunkStore([memory]).put("t", DATA)


def test_a_blob_that_no_tier_can_hold_is_refused(tmp_path):
    with pytest.raises(TooLarge):
        ChunkStore([DiskTier(tmp_path, 10)]).put("t", DATA)


def test_a_faster_tier_too_small_for_a_hit_does_without(disk):
    store = ChunkStore([MemoryTier(10), disk])
    store.put("t", DATA)
    assert store.get("t", IDENTITY).tier == "disk"


def test_a_new_blob_replaces_the_one_in_memory(memory, disk):
    store = ChunkStore([memory, disk])
    store.put("t", DATA)
    store.get("t", IDENTITY)
    store.put("t", encode_blob(make_kv(seed=2), IDENTITY, LOSSLESS))
    assert same_bits(store.get("t", IDENTITY).blob.decode(LOSSLESS), make_kv(seed=2))


def test_a_deleted_blob_is_in_no_tier(memory, shared, disk):
    store = ChunkStore([memory, shared, disk])
    store.put("t", DATA)
    store.get("t", IDENTITY)
    assert store.delete("t", [KEY, "9" * 64]) == 1
    assert store.get("t", IDENTITY) == Miss(StoreMiss.ABSENT)
    assert [stats.entries for stats in store.stats()] == [0, 0, 0]


def test_deleting_reaches_the_other_tiers_when_one_is_down_and_says_so(disk):
    disk.put("t", KEY, DATA)
    with pytest.raises(TierDown):
        ChunkStore([DownTier(), disk]).delete("t", [KEY])
    assert disk.get("t", KEY) is None


def test_a_blob_deleted_while_it_is_read_does_not_come_back(memory, shared):
    class DeletedRightAfterReading(SharedMemoryTier):
        def get(self, tenant, key):
            data = super().get(tenant, key)
            store.delete(tenant, [key])
            return data

    lasting = DeletedRightAfterReading(LIMIT)
    store = ChunkStore([memory, shared, lasting])
    lasting.put("t", KEY, DATA)
    assert isinstance(store.get("t", IDENTITY), Hit)
    store.settle()
    assert [stats.entries for stats in store.stats()] == [0, 0, 0]


def test_contains_asks_every_tier(memory, disk):
    memory.put("t", KEY, DATA)
    disk.put("t", "9" * 64, DATA)
    assert ChunkStore([memory, disk]).contains("t", [KEY, "9" * 64, "8" * 64]) == {KEY, "9" * 64}


def test_a_tenant_that_is_none_is_refused(disk):
    with pytest.raises(BadName):
        ChunkStore([disk]).get("../t", IDENTITY)
