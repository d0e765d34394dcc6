"""A folder or an index that cannot be used stops writing, not reading, and all goes on by itself when it is back."""

import errno
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from kvstore.errors import TierDown
from kvstore.tiers.disk import DiskTier

A, B, C = (letter * 64 for letter in "abc")
INDEX_FILES = ("index.db", "index.db-wal", "index.db-shm")


class Monotonic:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def monotonic() -> Monotonic:
    return Monotonic()


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "kv"


@pytest.fixture
def tier(folder, monotonic) -> DiskTier:
    tier = DiskTier(folder, 1000, monotonic=monotonic)
    tier.put("t", A, b"a" * 40)
    return tier


def counted(folder: Path) -> tuple[int, int]:
    """Entries and bytes as the index counts them."""
    with sqlite3.connect(folder / "index.db") as database:
        return database.execute("SELECT entries, bytes FROM folder").fetchone()


def refusal(call) -> TierDown:
    with pytest.raises(TierDown) as told:
        call()
    return told.value


def test_a_tier_whose_folder_is_a_file_is_there_and_down_until_it_is_a_folder(folder, monotonic):
    folder.write_text("not a folder")
    tier = DiskTier(folder, 1000, monotonic=monotonic)
    for call in (
        lambda: tier.get("t", A),
        lambda: tier.peek("t", A),
        lambda: tier.put("t", A, b"a"),
        lambda: tier.delete("t", A),
        lambda: tier.contains("t", [A]),
        lambda: tier.sizes("t", [A]),
        lambda: tier.lease("t", [A], "reader", 1),
        lambda: tier.release("reader"),
        lambda: list(tier.entries()),
        tier.stats,
    ):
        assert str(folder) in refusal(call).hint
    folder.unlink()
    assert refusal(lambda: tier.put("t", A, b"a")).hint.endswith("or set PREREAD_KV_DIR."), "tried again too soon"
    monotonic.now += 2
    tier.put("t", A, b"a")
    assert tier.get("t", A) == b"a"
    assert tier.stats().entries == 1


def test_a_folder_that_goes_is_made_anew_and_found_when_it_comes_back(folder, tier):
    folder.rename(folder.with_name("elsewhere"))
    assert tier.get("t", A) is None
    assert list(tier.entries()) == []
    tier.put("t", B, b"b" * 30)
    assert counted(folder) == (1, 30)
    shutil.rmtree(folder)
    folder.with_name("elsewhere").rename(folder)
    assert tier.get("t", A) == b"a" * 40
    tier.put("t", C, b"c" * 20)
    assert counted(folder) == (2, 60)
    assert tier.stats().bytes == 60


def test_an_index_that_is_deleted_while_open_is_made_anew_for_all_who_have_it_open(folder, tier):
    other = DiskTier(folder, 1000)
    for name in INDEX_FILES:
        (folder / name).unlink()
    other.put("t", B, b"b" * 30)
    tier.put("t", C, b"c" * 20)
    assert tier.stats() == other.stats()
    assert counted(folder) == (3, 90)


def test_the_limit_holds_over_the_loss_of_the_index(folder, tier):
    other = DiskTier(folder, 1000)
    for number in range(60):
        if number % 15 == 7:
            (folder / "index.db").unlink()
        (tier, other)[number % 2].put("t", f"{number:064x}", b"x" * 50)
        assert sum(path.stat().st_size for path in folder.rglob("*.kv")) <= 1000


@pytest.mark.parametrize("damage", ["all of it", "all but the header", "emptied"])
def test_an_index_that_is_damaged_while_open_is_made_anew_for_all_who_have_it_open(folder, tier, damage, monotonic):
    tiers = tier, DiskTier(folder, 1000, monotonic=monotonic)
    size = (folder / "index.db").stat().st_size
    with (folder / "index.db").open("r+b") as file:
        if damage == "emptied":
            file.truncate(0)
        else:
            file.seek(100 if damage == "all but the header" else 0)
            file.write(b"garbage" * (size // 7))
    (folder / "index.db-wal").write_bytes(b"")
    for number in range(20):
        monotonic.now += 2
        try:
            tiers[number % 2].put("t", f"{number:064x}", b"x" * 10)
        except TierDown:
            assert number < 4, "it does not recover"
    assert tiers[0].stats() == tiers[1].stats() == DiskTier(folder, 1000).stats()
    assert counted(folder)[1] == sum(path.stat().st_size for path in folder.rglob("*.kv"))


def test_without_an_index_blobs_are_found_counted_and_deleted(folder, tier, monotonic, caplog):
    tier.close()
    for name in INDEX_FILES:
        (folder / name).unlink(missing_ok=True)
    (folder / "index.db").mkdir()
    assert tier.get("t", A) == b"a" * 40
    assert "not noted" in caplog.text
    assert tier.peek("t", A) == b"a" * 40
    assert tier.contains("t", [A, B]) == {A}
    assert [entry.key for entry in tier.entries()] == [A]
    assert (tier.stats().entries, tier.stats().bytes) == (1, 40)
    refusal(lambda: tier.put("t", B, b"b"))
    refusal(lambda: tier.lease("t", [A], "reader", 1))
    assert tier.delete("t", A)
    assert tier.get("t", A) is None
    (folder / "index.db").rmdir()
    monotonic.now += 2
    tier.put("t", B, b"b" * 30)
    assert counted(folder) == (1, 30)


def test_what_could_not_be_counted_is_counted_before_anything_else(folder, tier, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    def busy(*_):
        raise sqlite3.OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        patch.setattr("kvstore.tiers.disk_index.DiskIndex.recount", busy)
        assert "full" in refusal(lambda: tier.put("t", B, b"b" * 30)).message
    assert counted(folder) == (2, 70)
    assert tier.stats().bytes == 40
    assert counted(folder) == (1, 40)


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "is full", "PREREAD_KV_DISK_BYTES"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "is full", "PREREAD_KV_DISK_BYTES"),
        (OSError(errno.EROFS, "Read-only file system"), "refuses access", "PREREAD_KV_READ_ONLY"),
        (OSError(errno.EIO, "Input/output error"), "fails", "Check the folder"),
    ],
)
def test_a_write_that_fails_says_why_leaves_nothing_and_does_not_stop_the_next(
    folder, tier, monkeypatch, error, message, hint
):
    def failing(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", failing)
        told = refusal(lambda: tier.put("t", B, b"b" * 30))
    assert message in told.message
    assert hint in told.hint
    assert sorted(path.name for path in folder.rglob("*") if path.is_file() and path.name not in INDEX_FILES) == [
        f"{A}.kv"
    ]
    assert counted(folder) == (1, 40)
    tier.put("t", B, b"b" * 30)
    assert counted(folder) == (2, 70)


def test_a_folder_that_may_not_be_written_to_is_told_and_read(folder, tier, monkeypatch, monotonic):
    monkeypatch.setattr(os, "access", lambda *_: False)
    again = DiskTier(folder, 1000, monotonic=monotonic)
    told = refusal(lambda: again.put("t", B, b"b"))
    assert "cannot be written to" in told.message
    assert "PREREAD_KV_READ_ONLY" in told.hint
    assert again.get("t", A) == b"a" * 40
    monkeypatch.undo()
    monotonic.now += 2
    again.put("t", B, b"b")
