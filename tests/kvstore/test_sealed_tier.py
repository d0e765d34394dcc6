"""A sealed tier keeps the promises of the tier inside it, and what lies there cannot be read without the key."""

import base64

import pytest
from kv_samples import make_identity, make_kv, same_bits
from memory_tier import MemoryTier

from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import BadName, CorruptBlob, TierDown, TooLarge
from kvstore.reasons import StoreMiss
from kvstore.sealing import SEALED_EXTRA_BYTES, Seal
from kvstore.store import ChunkStore, Miss, Stored
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.sealed import SealedTier

A, B, C = "a" * 64, "b" * 64, "c" * 64
MASTER = bytes(range(32))
SEAL = Seal(MASTER)
IDENTITY = make_identity()
KEY = IDENTITY.key
DATA = encode_blob(make_kv(), IDENTITY, LOSSLESS)
LIMIT = 10**6


@pytest.fixture
def disk(tmp_path):
    return DiskTier(tmp_path / "kv", LIMIT)


@pytest.fixture
def sealed(disk):
    return SealedTier(disk, SEAL)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "kv" / "t" / KEY[:2] / f"{KEY}.kv"


def flip_last_bit(data):
    return data[:-1] + bytes([data[-1] ^ 1])


def test_what_is_put_is_found_until_it_is_deleted(sealed):
    assert sealed.get("t", A) is None
    sealed.put("t", A, b"one")
    sealed.put("t", A, memoryview(b"three"))
    assert sealed.get("t", A) == b"three"
    assert sealed.get("u", A) is None
    assert sealed.delete("t", A)
    assert sealed.get("t", A) is None
    assert not sealed.delete("t", A)


def test_sizes_and_stats_count_sealed_bytes(sealed):
    sealed.put("t", A, b"123")
    sealed.put("t", C, b"4567")
    assert sealed.contains("t", [A, B, C]) == {A, C}
    assert sealed.sizes("t", [A, B, C]) == {A: 3 + SEALED_EXTRA_BYTES, C: 4 + SEALED_EXTRA_BYTES}
    stats = sealed.stats()
    assert (stats.name, stats.entries, stats.limit_bytes) == ("disk", 2, LIMIT)
    assert stats.bytes == 7 + 2 * SEALED_EXTRA_BYTES


def test_the_limit_is_of_sealed_bytes(tmp_path):
    tier = SealedTier(DiskTier(tmp_path, 100), SEAL)
    tier.put("t", A, bytes(100 - SEALED_EXTRA_BYTES))
    with pytest.raises(TooLarge):
        tier.put("t", B, bytes(101 - SEALED_EXTRA_BYTES))


@pytest.mark.parametrize("inner", [MemoryTier(LIMIT), "disk"])
def test_it_has_the_name_of_the_tier_inside_it(inner, disk):
    inner = disk if inner == "disk" else inner
    assert (SealedTier(inner, SEAL).name, SealedTier(inner, SEAL).shared) == (inner.name, inner.shared)


@pytest.mark.parametrize(("tenant", "key"), [("..", A), ("T", A), ("t", "../" + "a" * 61)])
def test_names_that_are_none_are_refused(sealed, tenant, key):
    several = (lambda t, k: sealed.contains(t, [k]), lambda t, k: sealed.sizes(t, [k]))
    for call in (sealed.get, sealed.delete, lambda t, k: sealed.put(t, k, b""), *several):
        with pytest.raises(BadName):
            call(tenant, key)


def test_a_tier_that_is_down_is_down_when_sealed(sealed, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(TierDown, match="no space"):
        sealed.put("t", A, b"x")


def test_the_file_does_not_hold_what_was_put(sealed, file):
    sealed.put("t", KEY, DATA)
    lying = file.read_bytes()
    assert len(lying) == len(DATA) + SEALED_EXTRA_BYTES
    assert not any(DATA[start : start + 16] in lying for start in range(0, len(DATA) - 16, 8))


def test_what_does_not_open_is_corrupt(sealed, disk, file):
    sealed.put("t", KEY, DATA)
    file.write_bytes(flip_last_bit(file.read_bytes()))
    with pytest.raises(CorruptBlob):
        sealed.get("t", KEY)
    disk.put("t", A, DATA)
    with pytest.raises(CorruptBlob):
        sealed.get("t", A)


def test_a_store_over_a_sealed_tier_finds_what_it_stored(sealed):
    memory = MemoryTier(LIMIT)
    store = ChunkStore([memory, sealed])
    assert store.put("t", DATA) == ("disk",)
    assert store.sizes("t", [KEY]) == {KEY: Stored("disk", len(DATA) + SEALED_EXTRA_BYTES)}
    assert same_bits(store.get("t", IDENTITY).blob.decode(LOSSLESS), make_kv())
    assert store.get("t", IDENTITY).tier == "memory"
    assert memory.get("t", KEY) == DATA


def test_a_hit_is_sealed_when_it_moves_into_a_sealed_tier(sealed, tmp_path, file):
    lasting = DiskTier(tmp_path / "lasting", LIMIT)
    lasting.put("t", KEY, DATA)
    store = ChunkStore([sealed, lasting])
    store.get("t", IDENTITY)
    store.settle()
    assert SEAL.open("t", KEY, file.read_bytes()) == DATA


SEALED = SEAL.seal("t", KEY, DATA)
SPOILT = {
    "altered": flip_last_bit(SEALED),
    "cut short": SEALED[:-1],
    "under another master key": Seal(bytes(32)).seal("t", KEY, DATA),
    "of another tenant": SEAL.seal("u", KEY, DATA),
    "of another store key": SEAL.seal("t", A, DATA),
    "not sealed": DATA,
    "damaged before it was sealed": SEAL.seal("t", KEY, flip_last_bit(DATA)),
}


@pytest.mark.parametrize("spoilt", SPOILT.values(), ids=SPOILT)
def test_what_does_not_open_is_dropped_and_missed(sealed, disk, file, spoilt):
    disk.put("t", KEY, spoilt)
    store = ChunkStore([sealed])
    assert file.exists()
    assert store.get("t", IDENTITY) == Miss(StoreMiss.CORRUPT)
    assert not file.exists()
    assert store.get("t", IDENTITY) == Miss(StoreMiss.ABSENT)


@pytest.mark.parametrize("spoilt", SPOILT.values(), ids=SPOILT)
def test_the_next_tier_serves_what_does_not_open_and_it_is_sealed_anew(sealed, disk, file, tmp_path, spoilt):
    disk.put("t", KEY, spoilt)
    lasting = DiskTier(tmp_path / "lasting", LIMIT)
    lasting.put("t", KEY, DATA)
    store = ChunkStore([sealed, lasting])
    found = store.get("t", IDENTITY)
    store.settle()
    assert same_bits(found.blob.decode(LOSSLESS), make_kv())
    assert SEAL.open("t", KEY, file.read_bytes()) == DATA


def test_without_the_key_a_sealed_blob_is_corrupt(sealed, disk, file):
    sealed.put("t", KEY, DATA)
    assert ChunkStore([disk]).get("t", IDENTITY) == Miss(StoreMiss.CORRUPT)
    assert not file.exists()


def test_the_log_says_why_and_does_not_tell_the_key(sealed, disk, caplog):
    disk.put("t", KEY, SPOILT["under another master key"])
    caplog.set_level("DEBUG")
    ChunkStore([sealed]).get("t", IDENTITY)
    assert "another encryption key" in caplog.text
    for spelling in (MASTER.hex(), base64.b64encode(MASTER).decode(), repr(MASTER)[2:-1]):
        assert spelling not in caplog.text
