"""The disk tier keeps its limit, and what it keeps is what saves most."""

import os
import random
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kvstore.errors import TierDown
from kvstore.eviction import Eviction
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.disk_index import DiskIndex

A, B, C, D = (letter * 64 for letter in "abcd")
SECOND = 10**9


class Clock:
    def __init__(self) -> None:
        self.now = 10**18

    def __call__(self) -> int:
        self.now += 1
        return self.now


def stored_bytes(folder):
    return sum(path.stat().st_size for path in folder.glob("*/??/*.kv"))


@pytest.mark.parametrize("eviction", Eviction)
def test_two_writers_of_one_folder_keep_its_limit(tmp_path, eviction):
    clock = Clock()
    writers = [DiskTier(tmp_path, 3200, clock, eviction=eviction) for _ in range(2)]
    for number in range(200):
        writers[number % 2].put("t", f"{number:064x}", b"x" * 50)
        assert stored_bytes(tmp_path) <= 3200
    assert writers[0].stats() == writers[1].stats()
    assert writers[0].stats().bytes == stored_bytes(tmp_path) == 3200


def test_processes_that_write_at_once_keep_the_limit_and_agree(tmp_path):
    script = (
        "import sys\nfrom pathlib import Path\nfrom kvstore.tiers.disk import DiskTier\n"
        "tier = DiskTier(Path(sys.argv[1]), 20_000)\n"
        "for n in range(150): tier.put('t', f'{n * 7 + int(sys.argv[2]):064x}', b'x' * 300)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(number)]) for number in range(3)]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    assert stored_bytes(tmp_path) == DiskTier(tmp_path, 20_000).stats().bytes <= 20_000


def test_what_was_used_most_stays_though_it_was_not_used_last(tmp_path):
    for eviction, kept in ((Eviction.VALUE, A), (Eviction.LRU, B)):
        tier = DiskTier(tmp_path / eviction, 100, Clock(), eviction=eviction)
        tier.put("t", A, b"a" * 40)
        for _ in range(5):
            tier.get("t", A)
        tier.put("t", B, b"b" * 40)
        tier.put("t", C, b"c" * 40)
        assert tier.contains("t", [A, B, C]) == {kept, C}


def test_what_saves_more_a_byte_stays(tmp_path):
    tier = DiskTier(tmp_path, 100, Clock())
    tier.put("t", A, b"a" * 20, worth=200)
    tier.put("t", B, b"b" * 60, worth=200)
    tier.put("t", C, b"c" * 40, worth=100)
    assert tier.contains("t", [A, B, C]) == {A, C}


def test_what_is_no_longer_used_is_overtaken(tmp_path):
    tier = DiskTier(tmp_path, 100, Clock())
    tier.put("t", A, b"a" * 40)
    for _ in range(3):
        tier.get("t", A)
    for number in range(10):
        tier.put("t", f"{number:064x}", b"x" * 40)
        tier.get("t", f"{number:064x}")
    assert not tier.contains("t", [A])


def test_uses_outlive_the_process(tmp_path):
    first = DiskTier(tmp_path, 100, Clock())
    first.put("t", A, b"a" * 40)
    for _ in range(5):
        first.get("t", A)
    first.close()
    again = DiskTier(tmp_path, 100, Clock())
    again.put("t", B, b"b" * 40)
    again.put("t", C, b"c" * 40)
    assert again.contains("t", [A, B, C]) == {A, C}


def test_nothing_is_evicted_under_a_lease_and_all_after_it(tmp_path):
    clock = Clock()
    tier = DiskTier(tmp_path, 100, clock)
    tier.put("t", A, b"a" * 40)
    tier.put("t", B, b"b" * 40)
    tier.lease("t", [A, D], "one", 10)
    tier.lease("t", [A], "another", 1)
    tier.release("another")
    tier.put("t", C, b"c" * 40)
    assert tier.contains("t", [A, B, C]) == {A, C}
    tier.put("t", B, b"b" * 20)
    tier.lease("t", [C], "one", 10)
    with pytest.raises(TierDown, match="being read"):
        tier.put("t", D, b"d" * 40)
    assert tier.contains("t", [A, B, C, D]) == {A, B, C}
    assert DiskTier(tmp_path, 50, clock).contains("t", [A, B, C]) == {A, C}, "a lower limit waits for the leases"
    clock.now += 11 * SECOND
    tier.put("t", D, b"d" * 80)
    assert tier.contains("t", [A, C, D]) == {D}


def test_an_entry_is_found_until_its_time_is_up(tmp_path):
    clock = Clock()
    tier = DiskTier(tmp_path, 100, clock, ttl_seconds=60)
    tier.put("t", A, b"a")
    clock.now += 59 * SECOND
    tier.get("t", A)
    assert tier.contains("t", [A]) == {A}
    clock.now += 2 * SECOND
    assert tier.get("t", A) is None
    assert tier.sizes("t", [A]) == {}
    tier.put("t", A, b"b")
    assert tier.get("t", A) == b"b"


def test_a_lower_limit_is_kept_from_the_next_start_on(tmp_path):
    tier = DiskTier(tmp_path, 1000, Clock())
    for key in (A, B, C):
        tier.put("t", key, b"x" * 40)
    assert DiskTier(tmp_path, 90, Clock()).stats().bytes == 80 == stored_bytes(tmp_path)


@pytest.mark.parametrize("damage", [b"", b"no database", None])
def test_a_lost_or_damaged_index_is_made_anew_from_the_files(tmp_path, damage):
    tier = DiskTier(tmp_path, 100, Clock())
    tier.put("t", A, b"a" * 40)
    tier.close()
    for path in tmp_path.glob("index.db*"):
        path.unlink()
    if damage is not None:
        (tmp_path / "index.db").write_bytes(damage * 1000)
    again = DiskTier(tmp_path, 100, Clock())
    assert again.stats().bytes == 40
    assert again.get("t", A) == b"a" * 40


def test_the_index_follows_files_that_came_or_went_without_it(tmp_path):
    clock = Clock()
    tier = DiskTier(tmp_path, 1000, clock)
    for key in (A, B):
        tier.put("t", key, b"x" * 40)
    (tmp_path / "t" / "aa" / f"{A}.kv").unlink()
    (tmp_path / "t" / "cc").mkdir()
    (tmp_path / "t" / "cc" / f"{C}.kv").write_bytes(b"x" * 7)
    (tmp_path / "no tenant" / "zz").mkdir(parents=True)
    (tmp_path / "no tenant" / "zz" / "stray.kv").write_bytes(b"x")
    assert tier.get("t", A) is None
    clock.now += 11 * 60 * SECOND
    assert DiskTier(tmp_path, 1000, clock).stats().bytes == 47


def test_a_write_that_fails_is_not_counted(tmp_path, monkeypatch):
    tier = DiskTier(tmp_path, 100, Clock())
    tier.put("t", A, b"old")

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        for key in (A, B):
            with pytest.raises(TierDown, match="no space"):
                tier.put("t", key, b"newer")
    assert (tier.stats().entries, tier.stats().bytes) == (1, 3)
    assert tier.get("t", A) == b"old"


def test_a_use_that_cannot_be_noted_is_a_hit_all_the_same(tmp_path, caplog):
    clock = Clock()
    tier = DiskTier(tmp_path, 100, clock)
    tier.put("t", A, b"kept")
    with sqlite3.connect(tmp_path / "index.db", isolation_level=None) as other:
        other.execute("DROP TABLE entries")
    clock.now += 2 * SECOND
    assert tier.get("t", A) == b"kept"
    assert "not noted" in caplog.text
    caplog.clear()
    assert tier.get("t", A) == b"kept"
    assert "not noted" not in caplog.text, "the index was not made anew"
    tier.put("t", B, b"x")
    assert (tier.stats().entries, tier.stats().bytes) == (2, 5)


def test_uses_that_cannot_be_noted_do_not_pile_up(tmp_path):
    clock = Clock()
    index = DiskIndex(tmp_path / "index.db", 100, Eviction.LRU, clock)
    with sqlite3.connect(tmp_path / "index.db", isolation_level=None) as other:
        other.execute("DROP TABLE entries")
    clock.now += 2 * SECOND
    with pytest.raises(sqlite3.Error):
        index.used(("t", A))
    index.used(("t", A))


def test_many_threads_read_write_and_evict_at_once(tmp_path):
    tier = DiskTier(tmp_path, 2000)

    def work(seed):
        draw = random.Random(seed)
        for _ in range(100):
            key = f"{draw.randrange(40):064x}"
            if draw.random() < 0.5:
                tier.put("t", key, key.encode() + b"x" * draw.randrange(100))
            else:
                data = tier.get("t", key)
                assert data is None or data.startswith(key.encode())

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert tier.stats().bytes == stored_bytes(tmp_path) <= 2000


def test_old_leftovers_of_crashed_writers_do_not_count(tmp_path):
    tier = DiskTier(tmp_path, 100)
    tier.put("t", A, b"kept")
    leftover = tmp_path / "t" / "aa" / f".{A}.kv.01.tmp"
    leftover.write_bytes(b"half")
    os.utime(leftover, (1, 1))
    assert DiskTier(tmp_path, 100).stats().bytes == 4
    assert not leftover.exists()
