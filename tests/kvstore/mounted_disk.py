"""What happens to a disk tier on a file system that is full or read-only: one scenario, in a process of its own.

    unshare --mount python mounted_disk.py full FOLDER

The mounts are seen by this process alone and end with it.
"""

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kv_samples import make_identity, make_kv

from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import TierDown
from kvstore.reasons import StoreMiss
from kvstore.store import ChunkStore, Hit, Miss
from kvstore.tiers.disk import DiskTier

LIMIT = 10**9
STORED, WANTED = make_identity(1), make_identity(2)


def blob(identity) -> bytes:
    return encode_blob(make_kv(n_tokens=300), identity, LOSSLESS)


class Clock:
    """Seconds; every look at it is later than a pause is long."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 10
        return self.now


def full(folder: Path) -> None:
    _mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder))
    tier = DiskTier(folder, LIMIT, monotonic=Clock())
    store = ChunkStore([tier])
    store.put("t", blob(STORED))
    _fill(folder / "others")

    told = _refusal(lambda: store.put("t", blob(WANTED)))
    assert "is full" in told.message, told.message
    assert "PREREAD_KV_DISK_BYTES" in told.hint
    assert not list(folder.rglob("*.tmp")), "half a blob is left"
    assert isinstance(store.get("t", STORED), Hit)
    assert store.get("t", WANTED) == Miss(StoreMiss.ABSENT)
    assert tier.stats().entries == 1
    started_full = DiskTier(folder, LIMIT, monotonic=Clock())
    assert isinstance(ChunkStore([started_full]).get("t", STORED), Hit)
    assert started_full.stats().bytes == len(blob(STORED))

    (folder / "others").unlink()
    assert store.put("t", blob(WANTED)) == ("disk",)
    assert isinstance(store.get("t", WANTED), Hit)
    for each in (tier, started_full):
        assert (each.stats().entries, each.stats().bytes) == (2, 2 * len(blob(STORED)))


def read_only(folder: Path) -> None:
    _mount("-t", "tmpfs", "tmpfs", str(folder))
    tier = DiskTier(folder, LIMIT, monotonic=Clock())
    store = ChunkStore([tier])
    store.put("t", blob(STORED))
    tier.close()  # what is open for writing cannot be made read-only by hand, as a failing disk can
    _mount("-o", "remount,ro", str(folder))

    started_read_only = DiskTier(folder, LIMIT, monotonic=Clock())
    for each in (tier, started_read_only):
        told = _refusal(lambda: ChunkStore([each]).put("t", blob(WANTED)))  # noqa: B023
        assert "refuses access" in told.message, told.message
        assert "PREREAD_KV_READ_ONLY" in told.hint
        assert isinstance(ChunkStore([each]).get("t", STORED), Hit)
        assert each.stats().bytes == len(blob(STORED))
        ChunkStore([each]).release(ChunkStore([each]).lease("t", [STORED.key], 30))
    _refusal(lambda: store.delete("t", [STORED.key]))

    _mount("-o", "remount,rw", str(folder))
    assert store.put("t", blob(WANTED)) == ("disk",)
    assert isinstance(ChunkStore([started_read_only]).get("t", WANTED), Hit)
    assert store.delete("t", [STORED.key]) == 1
    assert tier.stats() == started_read_only.stats()
    assert tier.stats().entries == 1


SCENARIOS: dict[str, Callable[[Path], None]] = {"full": full, "read_only": read_only}


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def _fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def _refusal(call: Callable[[], object]) -> TierDown:
    try:
        call()
    except TierDown as told:
        return told
    raise AssertionError("it was not refused")


if __name__ == "__main__":
    SCENARIOS[sys.argv[1]](Path(sys.argv[2]))
