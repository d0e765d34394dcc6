"""Writers, readers and Redis killed at random under a mixed load: what is seen afterwards must be whole.

Every blob follows from its number, so each process can tell whether what it got is right.
"""

import multiprocessing
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import psutil
import torch

from benchmarks.store.kv_redis import KVRedis
from benchmarks.store.samples import same_kv, sample_identity, sample_kv
from kvstore.blob import encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import PLAIN, Codecs
from kvstore.errors import TierDown, TooLarge
from kvstore.eviction import Eviction
from kvstore.profiles import Profiles
from kvstore.store import ChunkStore, Hit
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.disk_index import DiskIndex
from kvstore.tiers.redis import RedisTier

_TENANT = "killed"
_NUMBERS = 60
_LIMIT_BYTES = 300_000  # about a third of all the blobs
_LEASE_SECONDS = 1.0
_PROCESSES = {"writer": 2, "reader": 2}
_REDIS = "redis"
_WRONG = "wrong"


@dataclass
class Aftermath:
    """kills: by what was killed. wrong: blobs that came out otherwise than they were put in; partial: files that were
    not whole blobs; most_over_bytes: of the disk's limit, at any look; largest_blob_bytes. leased: entries still held
    when every lease was over. failed: processes that ended by themselves."""

    kills: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*_PROCESSES, _REDIS), 0))
    wrong: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    most_over_bytes: int = 0
    largest_blob_bytes: int = 0
    leased: int = 0
    failed: int = 0

    @property
    def sound(self) -> bool:
        harm = self.wrong or self.partial or self.leased or self.failed
        return not harm and self.most_over_bytes <= self.largest_blob_bytes


def kill_at_random(folder: Path, kills: int, seed: int, advance: Callable[[], None]) -> Aftermath:
    """`folder`: empty; short enough for the path of a socket in it."""
    draw = random.Random(seed)  # noqa: S311
    aftermath = Aftermath(largest_blob_bytes=max(len(_blob(number)) for number in range(_NUMBERS)))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    redis = KVRedis(folder, "3mb")
    disk = folder / "kv"
    disk.mkdir()
    processes = [
        (role, _start(context, role, disk, redis.url, draw.getrandbits(32)))
        for role, count in _PROCESSES.items()
        for _ in range(count)
    ]
    try:
        for _ in range(kills):
            time.sleep(draw.uniform(0.02, 0.3))
            victim = draw.randrange(len(processes) + 1)
            if victim == len(processes):
                redis.kill()
                aftermath.kills[_REDIS] += 1
            else:
                role, process = processes[victim]
                aftermath.failed += not process.is_alive()
                process.kill()
                process.join()
                processes[victim] = (role, _start(context, role, disk, redis.url, draw.getrandbits(32)))
                aftermath.kills[role] += 1
            with _stopped([process for _, process in processes]):
                look(disk, aftermath)
            advance()
    finally:
        aftermath.failed += sum(not process.is_alive() for _, process in processes)
        for _, process in processes:
            process.kill()
            process.join()
        redis.close()
    time.sleep(_LEASE_SECONDS)
    look(disk, aftermath)
    index = DiskIndex(disk / "index.db", _LIMIT_BYTES, Eviction.VALUE, time.time_ns)
    aftermath.leased = index.leased()
    index.close()
    aftermath.wrong += [path.name for path in folder.glob(f"*.{_WRONG}")]
    return aftermath


@contextmanager
def _stopped(processes: Sequence[ForkServerProcess]) -> Iterator[None]:
    """While files are counted none may come or go."""
    every = [psutil.Process(process.pid) for process in processes]
    for process in every:
        process.suspend()
    while any(process.status() != psutil.STATUS_STOPPED for process in every):
        time.sleep(0.001)
    yield
    for process in every:
        process.resume()


def _start(context: ForkServerContext, role: str, disk: Path, redis_url: str, seed: int) -> ForkServerProcess:
    process = context.Process(target=_ROLES[role], args=(disk, redis_url, seed), daemon=True)
    process.start()
    return process


def _write(disk: Path, redis_url: str, seed: int) -> None:
    store, draw = _store(disk, redis_url), random.Random(seed)  # noqa: S311
    while True:
        number = draw.randrange(_NUMBERS)
        with suppress(TierDown, TooLarge):  # Redis is being killed; all else is leased
            if draw.random() < 0.1:
                store.delete(_TENANT, [sample_identity(number).key])
            else:
                store.put(_TENANT, _blob(number))


def _read(disk: Path, redis_url: str, seed: int) -> None:
    store, draw, codecs = _store(disk, redis_url), random.Random(seed), Codecs(Profiles([]))  # noqa: S311
    while True:
        numbers = draw.sample(range(_NUMBERS), 6)
        reader = store.lease(_TENANT, [sample_identity(number).key for number in numbers[:2]], _LEASE_SECONDS)
        store.contains(_TENANT, [sample_identity(number).key for number in numbers])
        for number in numbers:
            found = store.get(_TENANT, sample_identity(number))
            if isinstance(found, Hit) and not same_kv(found.blob.decode(codecs.of(found.blob)), _kv(number)):
                (disk.parent / f"{number}.{_WRONG}").touch()
        if draw.random() < 0.5:  # the others end by themselves
            store.release(reader)


_ROLES = {"writer": _write, "reader": _read}


def _store(disk: Path, redis_url: str) -> ChunkStore:
    torch.set_num_threads(1)
    return ChunkStore([RedisTier(redis_url, 60, pause_seconds=0.1), DiskTier(disk, _LIMIT_BYTES)])


def look(disk: Path, aftermath: Aftermath) -> None:
    """Count the folder's bytes, and the files that are not what was put."""
    total = 0
    for path in disk.glob("*/??/*.kv"):
        data = path.read_bytes()
        total += len(data)
        if not any(data == _blob(number) for number in range(_NUMBERS)):
            aftermath.partial.append(path.name)
    aftermath.most_over_bytes = max(aftermath.most_over_bytes, total - _LIMIT_BYTES)


@cache
def _kv(number: int) -> ChunkKV:
    return sample_kv(5 + number, 2, 2, 32, number)


@cache
def _blob(number: int) -> bytes:
    return encode_blob(_kv(number), sample_identity(number), PLAIN["lossless"])


__all__ = ["Aftermath", "kill_at_random", "look"]
