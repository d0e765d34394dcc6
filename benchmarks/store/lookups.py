"""How long the store takes to find chunks, and what it adds to reading their bytes."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.store.samples import sample_identity, sample_kv
from kvstore.blob import encode_blob
from kvstore.codecs.codecs import PLAIN
from kvstore.store import ChunkStore, Hit
from kvstore.tiers.base import Tier
from kvstore.tiers.disk import DiskTier

_TENANT = "measured"
_ASKED = 32
_STORED = 512


def lookup_ms(tiers: list[Tier], rounds: int, seed: int) -> float:
    """Median milliseconds to look up 32 chunks, half of which the last tier alone has, among 512 small entries."""
    draw = random.Random(seed)  # noqa: S311
    keys = [f"{draw.getrandbits(256):064x}" for _ in range(_STORED)]
    for key in keys:
        tiers[-1].put(_TENANT, key, b"entry")
    store = ChunkStore(tiers)
    absent = [f"{draw.getrandbits(256):064x}" for _ in range(_ASKED // 2)]

    def look_up() -> None:
        asked = draw.sample(keys, _ASKED // 2)
        assert store.contains(_TENANT, [*asked, *absent]) == set(asked)

    return 1000 * _median_seconds(look_up, rounds)


def reading_overhead(folder: Path, rounds: int, seed: int) -> dict[str, Any]:
    """What getting blobs of 512 tokens takes: their files' bytes alone, and through the store, verified."""
    tier = DiskTier(folder, 10**10)
    kv = sample_kv(512, 30, 3, 64, seed)
    identities = [sample_identity(seed + number) for number in range(16)]
    for identity in identities:
        tier.put(_TENANT, identity.key, encode_blob(kv, identity, PLAIN["int8"]))
    paths = [folder / _TENANT / identity.key[:2] / f"{identity.key}.kv" for identity in identities]
    store = ChunkStore([tier])

    def as_files() -> None:
        for path in paths:
            path.read_bytes()

    def through_the_store() -> None:
        assert all(isinstance(store.get(_TENANT, identity), Hit) for identity in identities)

    pairs = [(_seconds(as_files), _seconds(through_the_store)) for _ in range(rounds)]
    return {
        "blob_bytes": paths[0].stat().st_size,
        "file_ms": 1000 * median(file for file, _ in pairs) / len(paths),
        "store_ms": 1000 * median(store for _, store in pairs) / len(paths),
        "overhead": median(store / file for file, store in pairs) - 1,
    }


def _median_seconds(work: Callable[[], object], rounds: int) -> float:
    return median(_seconds(work) for _ in range(rounds))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


__all__ = ["lookup_ms", "reading_overhead"]
